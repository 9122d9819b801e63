"""Finds the folders that travel with the package: `queries/` and `collectors/`.

They lie at the top of a checkout and inside the package in a wheel; this is the only place that knows.
"""

from __future__ import annotations

from pathlib import Path


def content(folder: str) -> Path:
    """The folder `queries` or `collectors`, in a checkout, an editable install or a wheel alike."""
    package = Path(__file__).resolve().parent
    installed = package / folder
    return installed if installed.is_dir() else package.parent / folder
