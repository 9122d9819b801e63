"""What verbs write with `--format json` is what their published schemas say (docs/json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from traceview.analysis import reports
from traceview.cli import main

jsonschema = pytest.importorskip("jsonschema")

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "json"
SAMPLE = ROOT / "samples" / "kineto" / "torch-2.13.0-lenet-cpu.json.gz"


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("schemas") / "trace.json.gz"
    path.write_bytes(SAMPLE.read_bytes())
    return path


def written(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main([*words, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def validator(name: str) -> Any:
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_every_report(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = written(capsys, "report", str(trace), *reports.names())
    assert [report["report"] for report in found] == reports.names()
    validator("report").validate(found)
    validator("report").validate(written(capsys, "report", str(trace)))
    for section in (section for report in found for section in report["sections"]):
        names = [column["name"] for column in section["columns"]]
        assert all(list(row) == names for row in section["rows"]), section["name"]


def test_advice(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = written(capsys, "advise", str(trace))
    validator("advise").validate(found)
    assert {row["status"] for row in found["sections"][0]["rows"]} >= {"not found", "cannot tell"}


def test_a_comparison(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = written(capsys, "compare", str(trace), str(trace))
    validator("compare").validate(found)
    assert len(found["runs"]) == 2


def test_rows_names_and_lists(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    validator("rows").validate(written(capsys, "sql", str(trace), "SELECT * FROM ops LIMIT 3"))
    names = ["volta_sgemm_128x64_nn", "nobody_knows", "cudnn_ampere_scudnn_128x64_relu_xregs_large_nn_v1"]
    validator("classify").validate(written(capsys, "classify", *names))
    for what in ("formats", "reports", "advice", "options", "categories", "collectors", "tables"):
        found = written(capsys, "list", what)
        validator("list").validate(found)
        assert found


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("report", {"report": "x", "title": "", "doc": "", "sections": [{"name": "x"}], "footer": []}),
        ("advise", {"report": "x", "title": "", "doc": "", "sections": [], "footer": [], "more": 1}),
        ("compare", {"report": "x", "title": "", "doc": "", "sections": [], "footer": []}),
        ("rows", [1]),
        ("classify", [{"name": "x"}]),
        ("list", {}),
    ],
)
def test_a_schema_refuses_something_else(name: str, wrong: object) -> None:
    assert list(validator(name).iter_errors(wrong))


def test_every_schema_is_tried_here() -> None:
    tried = {"report", "advise", "compare", "rows", "classify", "list"}
    assert {path.name.split(".")[0] for path in FOLDER.glob("*.schema.json")} == tried
