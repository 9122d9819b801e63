"""Published times of all-reduce become rows and models; what cannot be read is an error with its line."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import traceview
from traceview import cli
from traceview.errors import InputError
from traceview.experiments import results
from traceview.experiments.imports import csv_tables, published

RING = "ranks,bytes,ms,library\n" + "".join(
    # A ring of 1 GB/s and 10 us: the reader has to find it again.
    f"{n},{size},{(2 * (n - 1) * (10e3 + size / n)) / 1e6:.9f},mine\n"
    for n in (2, 4, 8)
    for size in (100_000, 4_000_000)
)


def table(folder: Path, text: str) -> Path:
    file = folder / "all-reduce.csv"
    file.write_text(text)
    return file


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    file = table(tmp_path, RING)
    rows = published.gather([file]).rows["collective_times"]
    assert len(rows) == 6 and rows[0]["wall_ns"] == 120_000 and rows[0]["nodes"] == 1
    assert {(row["kind"], row["library"], row["status"], row["source"]) for row in rows} == {
        ("all_reduce", "mine", "published", "all-reduce.csv")
    }
    best, *_ = csv_tables.models(rows)
    assert (best["scope"], best["model"], best["verdict"]) == ("mine, all-reduce.csv", "ring", "best")
    assert best["latency_ns"] == pytest.approx(10e3, rel=1e-3) and best["bytes_per_s"] == pytest.approx(1e9, rel=1e-3)


@pytest.mark.parametrize(
    "kind", ["AllReduce", "allreduce", "all-reduce", "All Reduce", "ncclAllReduce", "MPI_Allreduce"]
)
def test_an_all_reduce_is_one_however_it_is_written(tmp_path: Path, kind: str) -> None:
    """Other kinds stay as they are written, and no model is of them."""
    lines = [f"{line},{kind}" for line in RING.splitlines()[1:]]
    text = "\n".join(("ranks,bytes,ms,library,kind", *lines, "2,5,1,mine,Reduce", "2,5,1,mine,AllGather"))
    rows = published.gather([table(tmp_path, text)]).rows["collective_times"]
    assert [row["kind"] for row in rows] == ["all_reduce"] * 6 + ["Reduce", "AllGather"]
    best, *_ = csv_tables.models(rows)
    assert (best["model"], best["verdict"], best["points"]) == ("ring", "best", 6)


@pytest.mark.parametrize("cell", ["0,5,1", "2,-1,1", "x,5,1", "2,5,nan", "2,5,-3", "2,5,0", "9999999,5,1", "2,,1"])
def test_a_cell_that_is_wrong_is_named(tmp_path: Path, cell: str) -> None:
    with pytest.raises(InputError, match="line 3 holds a value that cannot be read"):
        list(csv_tables.read(table(tmp_path, f"ranks,bytes,ms\n2,5,1\n{cell}\n"), Counter()))


def test_other_tables_are_left_to_others(tmp_path: Path) -> None:
    for text in ("ranks,bytes\n2,5\n", ""):
        with pytest.raises(InputError, match="a CSV without the shapes of convolutions"):
            list(csv_tables.read(table(tmp_path, text), Counter()))


@pytest.mark.slow
def test_they_stand_beside_what_a_study_measured_and_come_once(tmp_path: Path) -> None:
    file = table(tmp_path, RING)
    study = results.write(tmp_path / "study", {"collective_times": [{"kind": "all_reduce", "ranks": 2}]}, {"kind": "x"})
    for _ in range(2):
        assert cli.main(["study", "import", str(file), "--into", str(study)]) == 0
    with traceview.open(study) as trace:
        assert trace.execute("SELECT count(*) FROM raw.collective_times").fetchall() == [(7,)]
        assert trace.execute("SELECT count(*) FROM raw.scaling_models").fetchall() == [(3,)]


def test_deepbench_is_like_a_ring(shared: Path) -> None:
    found = published.gather([shared / "studies/deepbench_titanx_maxwell_allreduce.csv"]).rows["collective_times"]
    assert len(found) == 35 and {row["nodes"] for row in found} == {1, 2, 4}
    best, *others = [row for row in csv_tables.models(found) if "NCCL 2.0 MPI, " in row["scope"]]
    assert best["scope"] == "TITAN X (Maxwell), NCCL 2.0 MPI, github.com/baidu-research/DeepBench, results/train"
    assert (best["model"], best["verdict"], best["points"]) == ("ring", "best", 18), "six sizes on one host"
    assert 5e9 < best["bytes_per_s"] < 6.5e9 and {row["verdict"] for row in others} == {"fits worse"}
