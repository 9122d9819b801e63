"""Makes the collectors' shared modules importable, as `sitecustomize` does for a collector."""

from __future__ import annotations

from pathlib import Path

import pytest

INJECT = Path(__file__).parents[3] / "collectors" / "inject"


@pytest.fixture(autouse=True)
def inject(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of these modules, on the import path, with a capture to write to."""
    monkeypatch.syspath_prepend(str(INJECT))
    monkeypatch.setenv("TRACEVIEW_DIR", str(tmp_path / "capture"))
    return INJECT
