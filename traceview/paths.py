"""Finds the folders that travel with the package: `queries/` and `collectors/`.

They lie at the top of a checkout and inside the package in a wheel; this is the only place that knows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


def content(folder: str) -> Path:
    """The folder `queries` or `collectors`, in a checkout, an editable install or a wheel alike."""
    installed = PACKAGE / folder
    return installed if installed.is_dir() else PACKAGE.parent / folder


def literal(path: Path) -> str:
    """A path in which DuckDB finds no pattern."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in str(path))


def digest(files: Iterable[Path]) -> str:
    """A hash of what these files hold: what depends on code or rules carries it, so no version is counted by hand."""
    found = hashlib.sha256()
    for path in sorted(files):
        found.update(path.read_bytes())
    return found.hexdigest()[:16]
