"""A digest of code tells what is in the files, wherever they lie."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

import pytest

from traceview import paths
from traceview.store import cache, materialized


@pytest.mark.parametrize("patterns", [cache.CONVERTERS, materialized.RULES], ids=["conversion", "rules"])
def test_a_wheel_and_a_checkout_of_the_same_code_share_a_digest(
    root: Path, tmp_path: Path, patterns: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = paths.digest(patterns)
    for place, queries in (("z/checkout", "queries"), ("a/site-packages", "traceview/queries")):
        copied = shutil.copytree(root / "traceview", tmp_path / place / "traceview")
        shutil.copytree(root / "queries", tmp_path / place / queries)
        shutil.copytree(root / "collectors", (tmp_path / place / queries).with_name("collectors"))
        monkeypatch.setattr(paths, "PACKAGE", copied)
        assert paths.digest(patterns) == own
        assert paths.digest(reversed(patterns)) == own


def test_a_digest_tells_which_file_holds_what(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "PACKAGE", tmp_path)
    found = set()
    for texts in ({"a.py": "x", "b.py": "y"}, {"a.py": "y", "b.py": "x"}, {"a.py": "xy", "b.py": ""}, {"a.py": "xy"}):
        for file in tmp_path.iterdir():
            file.unlink()
        for name, text in texts.items():
            (tmp_path / name).write_text(text)
        found.add(paths.digest(["*.py"]))
    assert len(found) == 4


def test_a_forked_process_does_not_remove_the_folder_of_another(tmp_path: Path) -> None:
    stack = contextlib.ExitStack()
    place = stack.enter_context(paths.temporary_folder("ours-", tmp_path))
    child = os.fork()
    if not child:
        # As the end of an interpreter does with what it still holds.
        stack.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0 and place.is_dir()
    stack.close()
    assert not place.exists()
