"""Check sums of what is stored: a file that was changed or cut after it was written is noticed before it is used."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterable
from pathlib import Path

SEAL = "sealed.json"
END_BYTES = 1 << 14
"""Of each end of a sealed file: a database says in its head what lies where in it, and a cut file lacks its tail."""
BLOCK_BYTES = 1 << 20


def seal(place: Path) -> None:
    """Write down what the files of a folder are, when it is complete."""
    files = sorted(path for path in place.iterdir() if path.is_file())
    (place / SEAL).write_text(json.dumps({path.name: _mark(path) for path in files}), encoding="utf-8")


def sealed(place: Path) -> dict[str, Path] | None:
    """The files of a folder by stem; None when one of them is not what was written there."""
    try:
        marks = json.loads((place / SEAL).read_text(encoding="utf-8"))
        if all(_mark(place / name) == mark for name, mark in marks.items()):
            return {Path(name).stem: place / name for name in marks}
    except (OSError, ValueError, AttributeError):
        pass
    return None


def sums(place: Path, files: Iterable[Path]) -> dict[str, int | None]:
    """A check sum of each file, by its path in the folder."""
    return {str(path.relative_to(place)): _sum(path) for path in sorted(files)}


def damaged(place: Path, known: object) -> Path | None:
    """The first file that no longer has the sum that was noted; None where none is, or where nothing was noted."""
    noted = {place / str(name): value for name, value in known.items()} if isinstance(known, dict) else {}
    return next((path for path, value in noted.items() if _sum(path) != value), None)


def _sum(path: Path) -> int | None:
    found = 0
    try:
        with path.open("rb") as file:
            while block := file.read(BLOCK_BYTES):
                found = zlib.crc32(block, found)
    except OSError:
        return None
    return found


def _mark(path: Path) -> list[int | str]:
    with path.open("rb") as file:
        found = hashlib.sha256(file.read(END_BYTES))
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - END_BYTES))
        found.update(file.read())
        return [size, found.hexdigest()]
