"""Puts the MPI that CNTK 2.7 was built for into an environment: Debian's OpenMPI under its old names. No root needed.

    python samples/legacy/openmpi.py FOLDER

The packages are unpacked in FOLDER/mpi; all their libraries are found in FOLDER/lib-mpi, which belongs into
LD_LIBRARY_PATH. Invariant: nothing outside of FOLDER is changed.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGES = ("libopenmpi3", "libhwloc15", "libevent-core-2.1-7", "libevent-pthreads-2.1-7")
OLD_NAMES = {"libmpi.so.12": "libmpi.so.40", "libmpi_cxx.so.1": "libmpi_cxx.so.40"}


def main(folder: Path) -> None:
    """Fetch, unpack and link. Raises where there is no apt, no such package or no index of packages."""
    with tempfile.TemporaryDirectory() as place:
        subprocess.run(["apt-get", "download", "--quiet", *PACKAGES], cwd=place, check=True)
        for package in sorted(Path(place).glob("*.deb")):
            subprocess.run(["dpkg", "-x", package, folder / "mpi"], check=True)
    found = next((folder / "mpi").rglob("libmpi.so.40")).parent
    names = folder / "lib-mpi"
    names.mkdir(exist_ok=True)
    # Everything under one folder, whatever the machine's name for it is.
    for library in found.glob("*.so*"):
        link(names / library.name, library)
    for old, new in OLD_NAMES.items():
        link(names / old, found / new)


def link(name: Path, target: Path) -> None:
    """A link, also where there was one."""
    name.unlink(missing_ok=True)
    name.symlink_to(target)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]).resolve())
