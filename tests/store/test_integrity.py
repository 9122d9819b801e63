"""Folders for a while are gone also after kill -9, and nobody else's ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from traceview import store
from traceview.cli import main
from traceview.paths import sweep, temporary_folder
from traceview.store import integrity

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
HOLDER = """
import sys, time
from pathlib import Path
from traceview.paths import temporary_folder
with temporary_folder("ours-", Path(sys.argv[1])) as place:
    (place / "inner").mkdir()
    print(place, flush=True)
    time.sleep(60)
"""


def old(path: Path) -> Path:
    os.utime(path, (0, 0))
    return path


def test_what_a_killed_process_left_goes_and_what_is_in_use_stays(root: Path, tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(root)}
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
        assert process.stdout
        place = old(Path(process.stdout.readline().strip()))
        with temporary_folder("ours-", tmp_path) as mine:
            assert place.exists() and mine.exists()
        assert not mine.exists()
        process.send_signal(signal.SIGKILL)
        process.wait()
    old(place)
    sweep("ours-", tmp_path)
    assert not place.exists()


def test_what_may_be_somebodys_stays(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.mkdir()
    (target / "file").touch()
    (tmp_path / "ours-link1234.tmp").symlink_to(target)
    old(tmp_path / "ours-link1234.tmp")
    (tmp_path / "ours-file1234.tmp").touch()
    (tmp_path / "ours-young123.tmp").mkdir()
    old(tmp_path / "ours-file1234.tmp")
    (tmp_path / "others-1").mkdir()
    old(tmp_path / "others-1")
    (tmp_path / "ours-20260102-030405").mkdir()
    old(tmp_path / "ours-20260102-030405")
    (tmp_path / "ours-results.tmp").mkdir()
    old(tmp_path / "ours-results.tmp")
    before = sorted(tmp_path.iterdir())
    sweep("ours-", tmp_path)
    assert sorted(tmp_path.iterdir()) == before
    assert (target / "file").exists()


def test_a_users_folder_with_a_name_like_ours_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    sample = SAMPLES / "kineto" / "torch-2.13.0-lenet-cpu.json.gz"
    capture = old(store.convert([sample], tmp_path / "traceview-capture-train-20260102-030405"))
    assert main(["convert", str(sample), "-o", f"memory://{tmp_path.name}/new"]) == 0
    assert (capture / "converted.json").exists()


def test_a_renamed_folder_is_kept(tmp_path: Path) -> None:
    with temporary_folder(".a[b].", tmp_path) as place:
        (place / "x").write_text("1")
        place.rename(tmp_path / "kept")
    assert (tmp_path / "kept" / "x").read_text() == "1"
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


@pytest.mark.parametrize("kind", ["fifo", "device", "link", "folder", "large"])
def test_only_small_regular_files_are_read(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "converted.json"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "link":
        (tmp_path / "elsewhere").write_text('{"a": 1}')
        path.symlink_to(tmp_path / "elsewhere")
    elif kind == "folder":
        path.mkdir()
    else:
        monkeypatch.setattr(integrity, "JSON_BYTES", 9)
        path.write_text('{"a": 1  }')
    assert integrity.read_json(path) == {}
    assert integrity.is_plain(path) == (kind == "large")
    integrity.remove(path)
    assert not path.exists() and not path.is_symlink()
    path.write_text('{"a": 1}')
    assert integrity.read_json(path) == {"a": 1}


@pytest.mark.parametrize("name", ["/dev/zero", "../elsewhere", "fifo", "gone", "rank-0000/../../elsewhere", "a\0b", ""])
def test_names_that_were_noted_are_not_opened(tmp_path: Path, name: str) -> None:
    place = tmp_path / "place"
    place.mkdir()
    os.mkfifo(place / "fifo")
    (tmp_path / "elsewhere").touch()
    (place / "file").write_text("x")
    noted = integrity.sums(place, [place / "file"])
    assert integrity.damaged(place, noted, [place / "file"]) is None
    assert integrity.damaged(place, {**noted, name: 0}, [place / "file"]) == place / name
    assert integrity.damaged(place, {"gone": 1}, [place / "file"]) == place / "file"
    assert [integrity.damaged(place, nothing, [place / "file"]) for nothing in ({}, "nothing")] == [None, None]
