"""`traceview list`: what is listed is what is there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from traceview import cli
from traceview.analysis import reports
from traceview.cli import list as listing
from traceview.experiments.algorithms import networks
from traceview.readers import READERS
from traceview.store import graph
from traceview.tables import TABLES


def rows(capsys: pytest.CaptureFixture[str], kind: str) -> list[dict[str, object]]:
    assert cli.main(["list", kind, "--format", "json"]) == 0
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return found


def test_formats_are_the_readers(capsys: pytest.CaptureFixture[str]) -> None:
    assert [row["format"] for row in rows(capsys, "formats")] == [reader.NAME for reader in READERS]


def test_reports_are_the_folders(capsys: pytest.CaptureFixture[str]) -> None:
    found = rows(capsys, "reports")
    assert [row["report"] for row in found] == reports.names()
    assert found[0]["report"] == "overview" and all(row["title"] and row["doc"] for row in found)


def test_categories_count_their_rules(capsys: pytest.CaptureFixture[str]) -> None:
    found = {row["category"]: row for row in rows(capsys, "categories")}
    assert {"conv", "gemm", "memcpy_htod", "other"} <= set(found)
    text = (Path(listing.__file__).parents[1] / "classify" / "kernels.toml").read_text(encoding="utf-8")
    assert found["conv"]["rules_for_kernels"] == text.count('\ncategory = "conv"\n')


def test_networks_have_their_layers_as_matrix_products(capsys: pytest.CaptureFixture[str]) -> None:
    found = {row["network"]: row for row in rows(capsys, "networks")}
    assert set(found) == set(networks.names())
    alexnet = found["alexnet"]
    assert (alexnet["convolutions"], alexnet["parameters"]) == (5, 62_378_344)
    assert cli.main(["list", "networks", "alexnet", "--format", "json"]) == 0
    layers = {row["layer"]: row for row in json.loads(capsys.readouterr().out)}
    assert sum(row["parameters"] for row in layers.values()) == 62_378_344
    assert sum(row["flop"] for row in layers.values()) == alexnet["flop_of_an_image"]
    product = {name: (row["gemm_m_x_n_x_k"], row["im2col_bytes"]) for name, row in layers.items()}
    assert product["conv1"] == ("96 x 3025 x 363", 4 * 3025 * 363)
    assert product["pool1"] == (None, None) and product["fc6"] == ("4096 x 1 x 9216", 0)
    assert cli.main(["list", "networks", "alexnet_grouped", "--format", "json"]) == 0
    grouped = {row["layer"]: row for row in json.loads(capsys.readouterr().out)}
    assert grouped["conv2"]["gemm_m_x_n_x_k"] == "128 x 729 x 1200 (2 groups)"
    assert grouped["conv2"]["im2col_bytes"] == 4 * 2 * 729 * 1200


@pytest.mark.parametrize(
    ("words", "sentence"),
    [(["networks", "alexnett"], "there is no model 'alexnett'"), (["formats", "alexnet"], "only `traceview list netw")],
)
def test_a_name_is_that_of_a_network(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_collectors_are_the_scripts(capsys: pytest.CaptureFixture[str], root: Path) -> None:
    found = rows(capsys, "collectors")
    assert {row["collector"] for row in found} == {path.stem for path in (root / "collectors").glob("*.py")}
    assert all(row["what"] for row in found)


def test_tables_are_views_and_what_is_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    expected = {*graph.names(), *(f"raw.{table.name}" for table in TABLES)}
    assert {row["table"] for row in rows(capsys, "tables")} == expected


@pytest.mark.parametrize("kind", listing.KINDS)
def test_every_list_is_a_table_too(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list", kind]) == 0
    captured = capsys.readouterr()
    assert captured.out.strip() and captured.err == ""


def test_advice_is_the_folder(root: Path) -> None:
    assert {row[0] for row in listing.advice().rows} == {path.stem for path in (root / "queries/advice").glob("*.sql")}


def test_an_unknown_list_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["list", "formatz"])
    assert stopped.value.code == 2
    assert "formats" in capsys.readouterr().err


@pytest.mark.slow
def test_unmatched_names_come_by_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    times = {"my_kernel_7f3a": (0, 10), "another_one_9b": (10, 30), "ampere_sgemm_128x64_nn": (40, 60)}
    events = [
        {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": dur, "args": {"device": 0}}
        for name, (ts, dur) in times.items()
    ]
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": events}))
    assert cli.main(["list", "categories", "--unmatched", str(trace), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(row["name"], row["busy_ns"], row["busy_pct"]) for row in found] == [
        ("another_one_9b", 30_000, 30.0),
        ("my_kernel_7f3a", 10_000, 10.0),
    ]


def test_unmatched_goes_with_categories(tmp_path: Path) -> None:
    assert cli.main(["list", "reports", "--unmatched", str(tmp_path)]) == 2


def test_a_bare_list_says_what_can_be_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line.split()[2] for line in lines] == list(listing.KINDS)
    assert all(len(line.split()) > 4 for line in lines)
