"""The best finding of a capture is worked out by the first command that asks, and is the same for the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from traceview import store
from traceview.analysis import advice, finding
from traceview.store import answers


def test_the_second_command_runs_no_rule(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = store.convert([root / "samples/kineto/torch-2.13.0-lenet-cpu.json.gz"], tmp_path / "capture")
    first = finding.Remembered(True)
    assert not first.is_known(folder)
    with store.open_capture(folder) as connection:
        made = first.section(connection)
        assert made == finding.section(connection)
        monkeypatch.setattr(advice, "run", lambda *_, **__: pytest.fail("a rule was run"))
        second = finding.Remembered(True)
        assert second.is_known(folder) and second.section(connection) == made
    assert not finding.Remembered(False).is_known(folder)


@pytest.mark.parametrize("row", [["a"], {"told": 1}, [["a"]] * 8, 5])
def test_what_is_not_a_row_is_worked_out_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: object) -> None:
    monkeypatch.setattr(answers, "recall", lambda *_: row)
    assert not finding.Remembered(True).is_known(tmp_path)
