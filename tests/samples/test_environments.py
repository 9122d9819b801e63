"""Environments of frameworks are built once, and what cannot be built says why."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def made(root: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("environments", root / "samples/environments.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # pip itself: the checkout's way to install may fetch uv.
    monkeypatch.setattr(module, "INSTALL", Path("/nowhere"))
    return module


def test_the_table_names_what_is_needed(made: ModuleType) -> None:
    for about in made.ENVIRONMENTS.values():
        assert about["title"] and about["packages"] and about["folder"].startswith(".venv-")
    assert len({about["folder"] for about in made.ENVIRONMENTS.values()}) == len(made.ENVIRONMENTS)


def test_what_is_unknown_or_cannot_be_built_says_why(
    made: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert made.main(tmp_path, ["caffe"]) == 2
    assert "there is no environment caffe; choose from frameworks, mxnet" in capsys.readouterr().err
    about = {"folder": "old", "packages": ["pip"], "python": ["2.0"]}
    assert "it needs Python 2.0" in made.build(tmp_path, about)
    assert not (tmp_path / "old").exists()


def test_what_is_there_is_not_built_again(made: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one/.installed").write_text('[["pip"], null]')
    assert made.build(tmp_path, {"folder": "one", "packages": ["pip"]}) is None
    assert [path.name for path in (tmp_path / "one").iterdir()] == [".installed"]


@pytest.mark.long
def test_an_environment_is_built_with_its_setup(made: ModuleType, tmp_path: Path) -> None:
    setup = [sys.executable, "-c", "import sys; open(sys.argv[1] + '/made', 'w')", "{folder}"]
    about = {"folder": ".venv/one", "packages": ["pip"], "setup": setup}
    assert made.build(tmp_path, about) is None
    assert (tmp_path / ".venv/one/bin/python").exists() and (tmp_path / ".venv/one/made").exists()
    assert made.build(tmp_path, about) is None
    failed = made.build(tmp_path, {**about, "setup": [sys.executable, "-c", "raise SystemExit('no compiler')"]})
    assert failed and failed.endswith("failed: no compiler") and not (tmp_path / ".venv/one/.installed").exists()
