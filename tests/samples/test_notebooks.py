"""The example notebook: every cell runs, and what it ends with is something a notebook can show."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path
from typing import Any

import pytest


def _shown(value: Any) -> str:
    """Return a value as a notebook displays it: HTML, or a chart's own description."""
    if hasattr(value, "_repr_html_"):
        return str(value._repr_html_())
    return json.dumps(value.to_dict()) if hasattr(value, "to_dict") else repr(value)


@pytest.mark.long
def test_the_notebook_runs(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(root / "samples/notebooks", tmp_path / "notebooks")
    (tmp_path / "kineto").mkdir()
    for name in ("lenet", "alexnet"):
        shutil.copy(root / f"samples/kineto/torch-2.13.0-{name}-cpu.json.gz", tmp_path / "kineto")
    monkeypatch.chdir(tmp_path / "notebooks")
    cells = json.loads(Path("report.ipynb").read_text())["cells"]
    space: dict[str, Any] = {}
    shown = []
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == []
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop()
        assert isinstance(last, ast.Expr)
        exec(compile(tree, "cell", "exec"), space)
        shown.append(_shown(eval(compile(ast.Expression(last.value), "cell", "eval"), space)))
    assert len(shown) == 6
    assert "lenet" in shown[0] and "conv" in shown[1] and "conv1" in shown[2] and "self_ms" in shown[4]
    assert "(whole step)" in shown[5]
