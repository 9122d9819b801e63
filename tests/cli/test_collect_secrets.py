"""A capture that `traceview collect` made is searched, byte for byte, for the secrets that the run was given."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from cases import first

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
# Each is a value that the run gets in another way; none may be found again.
VARIABLES = {
    "RANKED_API_KEY": "hush1",
    "TORCH_HUB_TOKEN": "hush2",
    "JAX_SECRET": "hush3",
    "NCCL_X": "hush4",
    "XLA_FLAGS": "--dump=https://me:hush5@host",
    "HTTPS_PROXY": "http://me:hush6@proxy",
}
WORDS = ["--password", "hush7", "--token=hush8", "https://me:hush9@host", "--header", "Authorization: Basic hush10"]
PROGRAM = """
import sys, torch
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(9):
    model(torch.ones(3, 4)).sum().backward()
    optimizer.step()
print(sys.argv[1:])
"""


def found(folder: Path, text: str) -> list[str]:
    """The files that hold a text, packed or decoded."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    plain = [path.name for path in files if text.encode() in path.read_bytes()]
    tables = [path for path in files if path.suffix == ".parquet"]
    return plain + [path.name for path in tables if text in str(duckdb.read_parquet(str(path)).fetchall())]


@pytest.mark.parametrize("option", first(1, [None, "--no-command"]))
def test_nothing_that_was_collected_holds_a_secret(tmp_path: Path, option: str | None) -> None:
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(PROGRAM)
    options = ["-o", "capture", "--require-capture", "--stacks", *([option] if option else [])]
    command = [sys.executable, "-m", "traceview", "collect", *options, "--", sys.executable, "train.py", *WORDS]
    environment = {**os.environ, **VARIABLES, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout) == (0, f"{WORDS}\n"), done.stderr
    assert found(tmp_path / "capture", "hush") == []
    assert ("--password" in (tmp_path / "capture" / "capture.json").read_text()) == (option is None)
    assert found(tmp_path / "capture", "OMP_NUM_THREADS") and found(tmp_path / "capture", "--dump=https://***@host")
