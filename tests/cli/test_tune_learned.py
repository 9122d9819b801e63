"""From a run of `tune` to what `advise` says of another capture of such a script: how often the bound was reached."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from traceview import cli
from traceview.experiments import quiet

SCRIPT = """
import torch
torch.set_num_threads(1)
model = torch.nn.Sequential(*[torch.nn.Linear(8, 8) for _ in range(150)])
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)
for step in range(40):
    loss = model(torch.randn(8, 8)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
RULE, BUDGET = "unfused_optimizer", "40s"


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert cli.main([*words, "--format", "json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def advice(capsys: pytest.CaptureFixture[str], capture: str) -> dict[str, Any]:
    """The answer of the rule."""
    (row,) = answer(capsys, "advise", capture, RULE)["sections"][0]["rows"]
    return dict(row)


@pytest.mark.long
def test_advice_tells_what_a_run_of_tune_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(quiet, "QUIET_PCT", 101.0)  # What is told of the times is tested, not whether they are right.
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(SCRIPT)
    command = ["--", sys.executable, "train.py"]
    assert cli.main(["collect", "-o", "other", "--wait", "2", "--steps", "4", *command]) == 0
    assert cli.main(["report", "other"]) == 0 and "traceview advise other" in capsys.readouterr().out
    names = ("runs", "reached", "factor", "saving_pct", "screened", "elsewhere")
    before = advice(capsys, "other")
    assert before["status"] == "found" and {before[f"measured_{name}"] for name in names} == {None}
    words = ["--try", "fused_optimizer", "-o", "runs", "--budget", BUDGET, "--limit-steps", "20"]
    assert cli.main(["tune", *words, *command]) == 0
    capsys.readouterr()
    query = "SELECT bound, speedup, phase, pairs, verdict FROM raw.tune_options WHERE name = 'fused_optimizer'"
    assert cli.main(["sql", "runs", query, "--format", "json"]) == 0
    (tried,) = json.loads(capsys.readouterr().out)
    if tried["speedup"] is None or (tried["pairs"] < 2 and tried["verdict"] == "cannot decide"):
        assert advice(capsys, "other")["measured_runs"] is None
        pytest.skip(f"this machine is too slow for two pairs in {BUDGET}: {tried}")
    share = (1 - 1 / tried["speedup"]) / (1 - 1 / tried["bound"])
    reached = int(share >= 2 / 3 and tried["verdict"] == "faster")
    after = advice(capsys, "other")
    expected = [1, reached, 1.5, pytest.approx(100 * share), int(tried["phase"] != "final"), 0]
    assert [after[f"measured_{name}"] for name in names] == expected
    assert cli.main(["advise", "other", RULE]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "Measured by tune: in 1 run of PyTorch" in said and " on a CPU at hand (" in said and " with 1 thread)" in said
    )
    assert f"gave {100 * max(share, 0):.0f} % of this saving; reached in {reached} of 1 within a factor of 1.5" in said
    # Finished runs that are resumed are not learned from again.
    assert cli.main(["tune", "-o", "runs", "--resume", *command]) == 0
    capsys.readouterr()
    assert advice(capsys, "other")["measured_runs"] == 1
    # The same run, had it been on a GPU.
    (file,) = Path("cache/traceview/tuned").iterdir()
    file.write_text(file.read_text().replace('"device": "cpu"', '"device": "gpu"'))
    assert [advice(capsys, "other")[f"measured_{name}"] for name in names] == [0, None, None, None, None, 1]
    assert cli.main(["advise", "other", RULE]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "No results of tune for PyTorch on a CPU yet. Left out: 1 run of PyTorch on a GPU." in said
