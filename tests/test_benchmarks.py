"""The benchmarks start, and what they measure on is what they say it is."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from traceview import store
from traceview.store import views

BENCHMARKS = sorted((Path(__file__).resolve().parent.parent / "benchmarks").glob("*.py"))
PROGRAMS = [path for path in BENCHMARKS if "__main__" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_benchmark_says_what_it_takes(path: Path) -> None:
    found = subprocess.run([sys.executable, str(path), "--help"], capture_output=True, text=True, timeout=120)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.startswith(f"usage: {path.name}")


def test_a_repeated_capture_holds_every_copy_later_than_the_one_before(root: Path, tmp_path: Path) -> None:
    # Repeated by kernels, of which a capture of a processor has none: three copies for three of them.
    repeat = runpy.run_path(str(root / "benchmarks/reports.py"))["repeat"]
    store.convert([root / "samples/kineto/torch-2.13.0-lenet-cpu.json.gz"], tmp_path / "once")
    assert repeat(tmp_path / "once", tmp_path / "thrice", 3) == 3
    query = "SELECT count(*), count(DISTINCT id), count(DISTINCT step), min(start_ns), max(start_ns) FROM raw.ops"
    n, n_ids, n_steps, first, last = views.connect(tmp_path / "once").execute(query).fetchall()[0]
    found = views.connect(tmp_path / "thrice").execute(query).fetchall()[0]
    assert found[:4] == (3 * n, 3 * n_ids, 3 * n_steps, first)
    assert found[4] > last + 2 * (last - first)
