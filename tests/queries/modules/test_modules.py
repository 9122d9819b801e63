"""Time of the tree of modules: rolled up by parent, and what has none by its phase."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from given import Given, pick, section

SQUARE = [[64, 64], [64, 64]]


@pytest.fixture(scope="module")
def transformer(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """One step on a GPU: a product and a functional softmax in one block, the loss, both backwards, the optimizer."""
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    given.span("step", "ProfilerStep#1", 0, 1000)
    given.span("module", "Net (Net)", 0, 100)
    given.span("module", "blocks.0 (Block)", 5, 90)
    given.span("module", "blocks.0.fc (Linear)", 10, 30)
    given.span("phase", "optimizer", 500, 600)

    def op(name: str, start: int, end: int, busy: int, shapes: list[list[int]] | None = None, **facts: object) -> None:
        types = {"shapes": str(shapes), "types": '["float", "float"]', "inputs": '["", ""]'} if shapes else {}
        row = {"name": name, "start_ns": 1000 * start, "dur_ns": 1000 * (end - start), **types, **facts}
        given.add("ops", pid=1, tid=1, **row)
        given.kernel(f"{name}_kernel", start + 1, start + 1 + busy, launched=start + 1)

    op("aten::mm", 12, 28, 10, SQUARE, sequence=1)
    op("aten::softmax", 40, 60, 20, sequence=2)
    op("aten::mse_loss", 120, 150, 5, sequence=3)
    op("MseLossBackward0", 200, 230, 6, sequence=3, forward_thread=1)
    op("SoftmaxBackward0", 240, 280, 30, sequence=2, forward_thread=1)
    op("MmBackward0", 300, 340, 25, sequence=1, forward_thread=1)
    op("aten::_fused_sgd_", 510, 560, 40)
    op("aten::item", 700, 720, 4)
    return given.open(tmp_path_factory.mktemp("transformer"))


def test_the_time_of_a_module_holds_that_of_those_in_it(transformer: duckdb.DuckDBPyConnection) -> None:
    found = section(transformer, "modules/modules", depth="9")
    columns = ("module", "class", "depth", "calls", "forward_ns", "backward_ns", "other_ns", "own_ns", "matrix_flop")
    assert pick(found, *columns) == [
        ("Net", "Net", 0, 1.0, 30_000, 55_000, 0, 0, 2 * 64**3),
        ("blocks", None, 1, 0.0, 30_000, 55_000, 0, 0, 2 * 64**3),
        ("blocks.0", "Block", 2, 1.0, 30_000, 55_000, 0, 50_000, 2 * 64**3),
        ("blocks.0.fc", "Linear", 3, 1.0, 10_000, 25_000, 0, 35_000, 2 * 64**3),
        ("(optimizer)", None, None, None, 0, 0, 40_000, 40_000, None),
        ("(loss)", None, None, None, 5_000, 6_000, 0, 11_000, None),
        ("(no module)", None, None, None, 0, 0, 4_000, 4_000, None),
    ]
    top = [row for row in found if not row["depth"]]
    assert sum(row["share_pct"] for row in top) == pytest.approx(100)
    # 19.5 TFLOP/s of an A100 in fp32.
    assert found[3]["mfu_pct"] == pytest.approx(100 * (2 * 64**3 / 19.5e12) / 35e-6)


@pytest.mark.parametrize(("depth", "n"), [("0", 1), ("1", 2), ("2", 3)])
def test_depth_leaves_out_rows_and_no_time(transformer: duckdb.DuckDBPyConnection, depth: str, n: int) -> None:
    found = section(transformer, "modules/modules", depth=depth)
    modules = [row for row in found if row["depth"] is not None]
    assert (len(modules), modules[0]["total_ns"]) == (n, 85_000)


def test_without_modules_everything_is_in_none(tmp_path: Path) -> None:
    given = Given()
    given.op("aten::add", 0, 10)
    found = section(given.open(tmp_path), "modules/modules")
    assert pick(found, "module", "total_ns", "share_pct") == [("(no module)", 10_000, 100.0)]
