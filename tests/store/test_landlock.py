"""Writes that a process can still make after it gave the right away."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os, sys, threading
from pathlib import Path
from traceview.store.reader import write_only_in
here = Path(sys.argv[1])
held = open(here / "held", "a")
assert write_only_in(here / "own" if sys.argv[2] == "own" else None)
def tried(what):
    try:
        what()
    except OSError as error:
        return type(error).__name__
    return "done"
def all_of_them():
    for what in (
        lambda: (here / "kept").read_text(),
        lambda: (here / "kept").write_text("gone"),
        lambda: open(here / "kept", "r+b"),
        lambda: os.truncate(here / "kept", 0),
        lambda: (here / "kept").unlink(),
        lambda: (here / "own" / "a").rename(here / "kept"),
        lambda: (here / "kept").rename(here / "own" / "b"),
        lambda: os.link(here / "kept", here / "own" / "c"),
        lambda: (here / "new").mkdir(),
        lambda: (here / "new").symlink_to("kept"),
        lambda: (here / "own" / "d").write_text("x"),
        lambda: (here / "own" / "d").unlink(),
        lambda: print("x", file=held, flush=True),
    ):
        print(tried(what))
thread = threading.Thread(target=all_of_them)
thread.start()
thread.join()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Landlock is a part of Linux")
@pytest.mark.parametrize("where", ["own", "nowhere"])
def test_files_are_written_in_one_folder_only(tmp_path: Path, where: str) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "kept").write_text("kept")
    (tmp_path / "own" / "a").write_text("a")
    words = [sys.executable, "-c", PROGRAM, str(tmp_path), where]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    # What moves to another folder is refused as if that were another disk.
    refusals = [*["PermissionError"] * 4, *["OSError"] * 3, *["PermissionError"] * 2]
    assert said[0] == said[-1] == "done"
    assert all(word in (refusal, "PermissionError") for word, refusal in zip(said[1:10], refusals, strict=True))
    assert said[10:12] == (["done"] * 2 if where == "own" else ["PermissionError", "FileNotFoundError"])
    assert (tmp_path / "kept").read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["held", "kept", "own"]
