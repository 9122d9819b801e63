"""The benchmarks start, and what they measure on is what they say it is."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import databases
import pytest
from cases import first

from traceview import store
from traceview.store import views

BENCHMARKS = sorted((Path(__file__).resolve().parent.parent / "benchmarks").glob("*.py"))
PROGRAMS = [path for path in BENCHMARKS if "__main__" in path.read_text(encoding="utf-8")]


@pytest.mark.slow
@pytest.mark.parametrize("path", first(4, PROGRAMS), ids=lambda path: path.stem)
def test_a_benchmark_says_what_it_takes(path: Path) -> None:
    found = subprocess.run([sys.executable, str(path), "--help"], capture_output=True, text=True, timeout=600)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.startswith(f"usage: {path.name}")


@pytest.mark.slow
def test_searches_for_nothing_run_tune(root: Path) -> None:
    words = [sys.executable, str(root / "benchmarks" / "false_claims.py"), "--times", "1", "--budget", "5s", "--"]
    found = subprocess.run([*words, sys.executable, "-c", "pass"], capture_output=True, text=True, timeout=600)
    assert found.returncode == 1 and "there is nothing to tune" in found.stderr


def _imports(text: str) -> Iterator[tuple[str, str]]:
    """Module and name of what a program imports of traceview, and what the programs in its texts do."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "traceview":
            yield from ((str(node.module), alias.name) for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "import " in node.value:
            with contextlib.suppress(SyntaxError):
                yield from _imports(node.value)


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_what_a_benchmark_imports_of_traceview_is_there(path: Path) -> None:
    for module, name in _imports(path.read_text(encoding="utf-8")):
        found = importlib.import_module(module)
        assert hasattr(found, name) or importlib.util.find_spec(f"{module}.{name}"), (module, name)


@pytest.mark.slow
def test_the_floor_of_an_nsys_export_reads_it(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(root / "benchmarks")
    tables = {"StringIds": [{"id": 1, "value": "k"}], "CUPTI_ACTIVITY_KIND_KERNEL": [{"start": 1, "end": 2}]}
    trace = databases.write(tmp_path / "trace.sqlite", tables)
    code = runpy.run_path(str(root / "benchmarks/ingest.py"))["READ_SQLITE"]
    found = subprocess.run([sys.executable, "-c", code, str(trace)], capture_output=True, text=True, timeout=600)
    assert (found.returncode, found.stderr) == (0, "")


@pytest.mark.slow
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


def test_every_rule_has_a_pair_of_runs_or_a_reason_why_not(root: Path) -> None:
    pairs = runpy.run_path(str(root / "benchmarks/advice.py"))["cases"](2)
    assert all(case.script.is_file() for case in pairs.values())
    rules = {path.stem for path in (root / "queries/advice").glob("*.sql")}
    page = (root / "docs/advice.md").read_text(encoding="utf-8").split("## Claimed and measured")[1]
    shown, lacking = page.split("## Thresholds")[0].split("Not run here")
    measured, public = (
        set(re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)) for part in shown.split("Shown by public traces")
    )
    assert {case.rule for case in pairs.values()} == measured
    assert set(re.findall(r"`(\w+)`", lacking)) == rules - measured - public


def test_answers_are_compared_line_by_line(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compare = runpy.run_path(str(root / "benchmarks/answers.py"))["compare"]
    for side, text, sum_ns in (("a", "one\ntwo\n", "0.30000000000000004"), ("b", "one\n2\n", "0.3")):
        (tmp_path / side).mkdir()
        (tmp_path / side / "text").write_text(text)
        (tmp_path / side / "sum").write_text(sum_ns)
    (tmp_path / "b" / "more").write_text("row")
    assert compare(tmp_path / "a", tmp_path / "b") == 1
    assert capsys.readouterr().out == (
        "more: 1 lines differ\n  - absent\n  + row\ntext: 1 lines differ\n  - two\n  + 2\n1 of 3 answers are the same\n"
    )
    assert compare(tmp_path / "a", tmp_path / "a") == 0


@pytest.mark.long
def test_an_agent_is_given_the_evidence_it_needs_and_little_else(root: Path) -> None:
    code = runpy.run_path(str(root / "benchmarks/agents.py"))
    (case,) = (case for case in code["CASES"] if case.name == "a rank hangs")
    read = code["diagnose"](case)
    assert code["faults"](case, read) == ([], [])
    assert sum(map(len, read)) < 8000 * code["BYTES_PER_TOKEN"]
    assert code["faults"](case, ["bucket_cap_mb=25"]) == (list(case.expected), ["bucket_cap_mb=25"])
