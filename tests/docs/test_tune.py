"""The commands of docs/tune.md that make a plan and try it run one after the other, on a small model."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from traceview import cli

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "tune.md").read_text(encoding="utf-8")
COMMANDS = [shlex.split(line) for line in PAGE.splitlines() if line.startswith("    ") and "traceview" in line]
SHORT = {
    "study": ["--backends", "torch_default,torch_gemm", "--budget", "30s"],
    "schedule": [],
    "tune": ["-o", "RUNS", "--try", "malloc_keeps", "--budget", "20s", "--limit-steps", "5"],
}
"""Options that a test adds to a command, so that it does not take minutes."""
MODEL = """
import torch
def make_model():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 5, padding=2), torch.nn.ReLU(), torch.nn.MaxPool2d(4),
        torch.nn.Conv2d(8, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(1024, 10),
    )
"""
SCRIPT = """
import torch
from model import make_model
model = make_model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(20):
    loss = torch.nn.functional.cross_entropy(model(torch.randn(16, 3, 32, 32)), torch.randint(0, 10, (16,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("the end")
"""


@pytest.mark.long
def test_a_plan_is_made_tried_and_applied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    Path("model.py").write_text(MODEL)
    Path("train.py").write_text(SCRIPT)
    study, schedule, tune, apply = COMMANDS
    monkeypatch.setenv(*tune.pop(0).split("="))
    for command in (study, schedule, tune):
        name, *words = [sys.executable if word == "python" else word for word in command[1:]]
        place = words.index("algorithms") + 1 if "algorithms" in words else 0
        assert cli.main([name, *words[:place], *SHORT[name], *words[place:]]) == 0, capfd.readouterr().err
    capfd.readouterr()
    n_layers = len(json.loads(Path("plan.json").read_text())["layers"])
    assert n_layers == 2 and Path("RUNS/plan.json").read_text() == Path("plan.json").read_text()
    query = "SELECT applied FROM raw.tune_options WHERE name = 'plan'"
    assert cli.main(["sql", "RUNS", query, "--format", "json"]) == 0
    assert json.loads(capfd.readouterr().out) == [{"applied": "yes: 2 of 2 layers"}]
    code = cli.main([sys.executable if word == "python" else word for word in apply[1:]])
    captured = capfd.readouterr()
    # Whether anything is faster depends on the machine.
    assert (code, captured.out) == (0, "the end\n") or (code == 2 and "no option that was faster" in captured.err)
