"""Nothing outside a folder of results is opened through it, and nothing in it is waited for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from traceview.errors import InputError
from traceview.experiments import inside

MODES = ("rb", "r+b", "ab", "wb")


def test_files_are_written_read_and_replaced(tmp_path: Path) -> None:
    with inside.opened(tmp_path, "raw/rows", "ab") as file:
        file.write(b"one")
    inside.replace(tmp_path, "raw/rows", b"two")
    assert inside.read(tmp_path, "raw/rows") == b"two"
    assert [path.name for path in (tmp_path / "raw").iterdir()] == ["rows"]
    with pytest.raises(InputError, match="more than 2 bytes"):
        inside.read(tmp_path, "raw/rows", 2)
    with pytest.raises(FileNotFoundError):
        inside.read(tmp_path, "raw/none")


@pytest.mark.parametrize("mode", MODES)
def test_links_pipes_and_devices_are_refused_at_once(tmp_path: Path, mode: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("precious")
    folder = tmp_path / "runs"
    (folder / "raw").mkdir(parents=True)
    os.mkfifo(folder / "raw" / "pipe")
    (folder / "raw" / "link").symlink_to(outside / "file")
    (folder / "raw" / "nowhere").symlink_to(outside / "new")
    (folder / "raw" / "zero").symlink_to("/dev/zero")
    (folder / "raw" / "folder").mkdir()
    (folder / "output").symlink_to(outside)
    for name in ("raw/pipe", "raw/link", "raw/nowhere", "raw/zero", "raw/folder", "output/file", "raw/link/x"):
        with pytest.raises(InputError, match="is not a file of traceview's own"):
            inside.opened(folder, name, mode)
    assert [path.name for path in outside.iterdir()] == ["file"] and (outside / "file").read_text() == "precious"


def test_a_link_is_replaced_and_not_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "capture.json").symlink_to(tmp_path / "mine")
    (tmp_path / "runs" / ".capture.json.tmp").symlink_to(tmp_path / "mine")
    inside.replace(tmp_path / "runs", "capture.json", b"{}")
    assert (tmp_path / "mine").read_text() == "precious"
    assert (tmp_path / "runs" / "capture.json").read_text() == "{}"


def test_what_has_the_name_of_a_new_folder_is_kept(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "notes").touch()
    inside.make_new(tmp_path, "base")
    (tmp_path / "base").rmdir()
    (tmp_path / "base").symlink_to(tmp_path)
    inside.make_new(tmp_path, "base")
    assert not any((tmp_path / "base").iterdir()) and (tmp_path / "base.earlier-1" / "notes").exists()
    assert (tmp_path / "base.earlier-2").is_symlink()
