"""Shared fixtures: the folder of public traces beside the project, and converted captures."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from asked import ONE
from public_traces import SHARED

from traceview import store
from traceview.ingest import memory
from traceview.store import materialized

ROOT = Path(__file__).resolve().parent.parent

# A shell starts what runs in the background with Ctrl-C ignored, and children inherit that: tests of Ctrl-C would wait.
signal.signal(signal.SIGINT, signal.default_int_handler)

# xdist gives its workers a width of 80, by which tables would be drawn.
os.environ.pop("COLUMNS", None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses the folder of public traces, so that the others can run with it hidden."""
    marked = [item for item in items if "shared" in getattr(item, "fixturenames", ())]
    for item in marked:
        item.add_marker(pytest.mark.shared)
    for path in {item.path for item in marked}:
        # `.ci/run` finds them by this word.
        assert re.search(r"\bshared\b", path.read_text(encoding="utf-8")), f"{path} does not say that it is shared"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how tests are run in this order again; pytest-randomly says it in a header that `-q` leaves out."""
    if config.pluginmanager.hasplugin("randomly"):
        terminalreporter.write_line(f"order of tests: --randomly-seed={config.getoption('randomly_seed')}")


def _of_this_run(factory: pytest.TempPathFactory) -> Path:
    """A folder of this run of the tests, the same for all its workers."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    os.environ["XDG_CACHE_HOME"] = str(_of_this_run(tmp_path_factory) / "cache")
    os.environ["XDG_STATE_HOME"] = str(_of_this_run(tmp_path_factory) / "state")


@pytest.fixture
def remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that ask twice: a report that was asked for before is read from a cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(autouse=True)
def _reports_are_worked_out(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports of this process are worked out, whatever another test asked for: many change what one is made of."""
    if "remembered" in request.fixturenames:
        return
    recall, remember = materialized.recall, materialized.remember

    def recalled(folder: Path, name: str = materialized.ADVICE) -> Any:
        return recall(folder, name) if name == materialized.ADVICE else None

    def stored(folder: Path, answers: Any, name: str = materialized.ADVICE) -> None:
        if name == materialized.ADVICE:
            remember(folder, answers, name)

    monkeypatch.setattr(materialized, "recall", recalled)
    monkeypatch.setattr(materialized, "remember", stored)


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
    """Opens traces, each converted once per run of the tests, whichever worker is the first to ask for it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.opened: dict[Path, duckdb.DuckDBPyConnection] = {}

    def folder_of(self, path: Path) -> Path:
        """The capture of a trace."""
        target = self.folder / "-".join(path.parts[-2:])
        with (self.folder / f"{target.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not target.exists():
                store.convert([path], target)
        return target

    def open(self, path: Path) -> duckdb.DuckDBPyConnection:
        """A connection to the capture of a trace."""
        if path not in self.opened:
            self.opened[path] = store.open_capture(self.folder_of(path), ONE)
        return self.opened[path]


@pytest.fixture(scope="session")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Captures:
    return Captures(_of_this_run(tmp_path_factory) / "captures")


@pytest.fixture
def hangup() -> Iterator[None]:
    """SIGHUP ends what a test starts: under nohup it is ignored, and children inherit that."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture
def rooms(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The amounts of memory that work is tried with from here on, one after the other."""
    tried: list[int] = []
    lower = memory.LowMemory._lower

    def noted(attempt: memory.LowMemory) -> None:
        lower(attempt)
        tried.append(attempt._room)

    monkeypatch.setattr(memory.LowMemory, "_lower", noted)
    return tried
