"""The README's picture is drawn from a capture: timeline and first chart of its page, as wide as what is there."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path

import pytest


def size(path: Path) -> tuple[int, int]:
    """Return width and height of a PNG."""
    head = path.read_bytes()[:24]
    assert head[1:4] == b"PNG"
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


@pytest.mark.long
def test_the_picture_has_the_timeline_and_a_chart(root: Path, tmp_path: Path) -> None:
    pytest.importorskip("playwright")
    if not (shutil.which("chromium-headless-shell") or shutil.which("chromium")):
        pytest.skip("no Chromium is installed (Debian: chromium-headless-shell)")
    shutil.copyfile(root / "samples/kineto/torch-2.13.0-alexnet-cpu.json.gz", tmp_path / "a.json.gz")
    draw = runpy.run_path(str(root / ".ci/picture.py"))["draw"]
    draw(str(tmp_path / "a.json.gz"), tmp_path / "page.png")
    width, height = size(tmp_path / "page.png")
    assert width == size(root / "docs/page.png")[0] and 700 < height < 1400
