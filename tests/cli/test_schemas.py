"""Output of verbs with `--format json` follows the published schemas (docs/json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import referencing

from traceview.analysis import reports
from traceview.cli import main

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
    schemas = [json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.schema.json")]
    resources = [(schema["$id"], referencing.Resource.from_contents(schema)) for schema in schemas]
    schema = next(schema for schema in schemas if schema["$id"] == f"{name}.schema.json")
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema, registry=referencing.Registry().with_resources(resources))


@pytest.mark.long
def test_every_report(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = written(capsys, "report", str(trace), *reports.names())
    assert [report["report"] for report in found] == reports.names()
    validator("report").validate(found)
    validator("report").validate(written(capsys, "report", str(trace)))
    for section in (section for report in found for section in report["sections"]):
        names = [column["name"] for column in section["columns"]]
        assert all(list(row) == names for row in section["rows"]), section["name"]


@pytest.mark.slow
def test_advice(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = written(capsys, "advise", str(trace))
    validator("advise").validate(found)
    assert {row["status"] for row in found["sections"][0]["rows"]} >= {"not found", "cannot tell"}


@pytest.mark.slow
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


ROW = {
    "layer": "conv1", "model": "net", "in_channels": 3, "height": 8, "width": 8, "out_channels": 4, "filter_height": 3,
    "filter_width": 3, "stride_h": 1, "stride_w": 1, "pad_h": 1, "pad_w": 1, "dilation_h": 1, "dilation_w": 1,
    "groups": 1, "dtype": "float32", "batch": 4, "direction": "fprop", "device": "cpu", "threads": 1,
    "backend": "torch", "backend_version": "2.13.0", "implementation": "default", "layout_in": "nchw",
    "layout_out": "nchw", "wall_ns": 90, "cpu_ns": 80, "status": "measured", "source": "measured on A Processor",
}  # fmt: skip


@pytest.mark.slow
def test_a_study_its_plan_and_a_tuning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from traceview.cli import studies
    from traceview.experiments import results

    monkeypatch.chdir(tmp_path)
    fast = {"backend": "winograd", "implementation": "F(2x2,3x3) by 64", "algorithm": "winograd", "wall_ns": 30}
    rows = {"algorithm_times": [ROW, {**ROW, **fast, "cpu_ns": 30, "error": 1e-6}]}
    results.write(Path("s"), rows, {"kind": "study algorithms"})
    study = json.loads(studies.shown(Path("s"), "study", ("fastest",), "json"))
    validator("study").validate(study)
    assert study["sections"][0]["rows"][0]["implementation"] == "winograd F(2x2,3x3) by 64"
    found = written(capsys, "schedule", "s")
    validator("schedule").validate(found)
    sections = {section["name"]: section["rows"] for section in found["sections"]}
    told = "The plan makes the measured convolutions 2.67 times as fast; whole steps: not proved end to end."
    assert sections["verdict"][0]["text"] == told
    assert sections["plans"][0]["verdict"] == "not proved end to end"
    plan = json.loads(Path("plan.json").read_text())
    validator("plan").validate(plan)
    assert plan["layers"][0]["fprop"]["implementation"] == "F(2x2,3x3) by 64"
    options = [{"place": 1, "name": "layout", "kind": "option", "verdict": "faster", "speedup": 1.5, "pairs": 6}]
    results.write(Path("runs"), {"tune_options": options}, {"kind": "tune", "command": ["x"]})
    tuned = written(capsys, "tune", "--report", "runs")
    validator("tune").validate(tuned)
    sections = {section["name"]: section["rows"] for section in tuned["sections"]}
    assert sections["verdict"][0]["text"] == "Nothing was shown to make the step faster: 1 of 1 option tried."
    assert sections["options"][0]["speedup"] == 1.5


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("report", {"report": "x", "title": "", "doc": "", "sections": [{"name": "x"}], "footer": []}),
        ("advise", {"report": "x", "title": "", "doc": "", "sections": [], "footer": [], "more": 1}),
        ("compare", {"report": "x", "title": "", "doc": "", "sections": [], "footer": []}),
        ("rows", [1]),
        ("classify", [{"name": "x"}]),
        ("list", {}),
        ("study", {"report": "tune", "title": "", "doc": "", "sections": [], "footer": []}),
        ("schedule", {"report": "schedule", "title": "", "doc": "", "sections": [], "footer": []}),
        ("tune", []),
        ("plan", {"traceview_plan": 2}),
    ],
)
def test_a_schema_refuses_something_else(name: str, wrong: object) -> None:
    assert list(validator(name).iter_errors(wrong))


def test_every_schema_is_tried_here() -> None:
    tried = {"report", "advise", "compare", "rows", "classify", "list", "study", "schedule", "tune", "plan"}
    assert {path.name.split(".")[0] for path in FOLDER.glob("*.schema.json")} == tried
