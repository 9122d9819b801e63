"""Shared fixtures: the folder of public traces beside the project, and converted captures."""

from __future__ import annotations

import os
import signal
import warnings
from pathlib import Path

import pytest

from traceview import store
from traceview.ingest import memory
from traceview.store import views

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"

# A shell starts what runs in the background with Ctrl-C ignored, and children inherit that: tests of Ctrl-C would wait.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of public traces. Tests that need it are skipped, with a warning, where it is absent."""
    if not (SHARED / "traces").is_dir():
        warnings.warn(f"{SHARED} is absent: tests on public traces are skipped", stacklevel=1)
        pytest.skip("the folder of public traces is absent")
    return SHARED


class Captures:
    """Opens public traces, each converted once per session."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.opened: dict[Path, object] = {}

    def open(self, path: Path):  # type: ignore[no-untyped-def]
        if path not in self.opened:
            target = self.folder / path.name
            store.convert([path], target)
            self.opened[path] = views.connect(target)
        return self.opened[path]


@pytest.fixture(scope="session")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Captures:
    return Captures(tmp_path_factory.mktemp("captures"))


@pytest.fixture
def rooms(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The amounts of memory that work is tried with from here on, one after the other."""
    tried: list[int] = []
    lower = memory.Sparing._lower

    def noted(attempt: memory.Sparing) -> None:
        lower(attempt)
        tried.append(attempt._room)

    monkeypatch.setattr(memory.Sparing, "_lower", noted)
    return tried
