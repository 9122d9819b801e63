"""CNTK's node timing: a row per node and direction."""

# ruff: noqa: E501 -- lines of logs are as long as the tool prints them

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from asked import connected, opened, rows
from cases import first
from given import pick, section

from traceview import store
from traceview.decode.files import peek
from traceview.errors import InputError
from traceview.readers import READERS, cntk_timing

LOG = """\
Finished Epoch[1 of 1]: [Training] loss = 6.9 * 160, metric = 99.00% * 160 1.2s (130.1 samples/s);
Convolution37                  forward avg 0.012345s, backward avg 0.023456s (fwd# 10|bwd# 10)
Plus39                         forward avg 0.000345s, backward avg 0.000000s (fwd# 10|bwd# 0)
11/21/2017 10:11:12: a long name of a node that is longer than thirty forward avg 0.000001s, backward avg 0.000002s (fwd# 10|bwd# 9)
"""


def test_nodes_forward_and_backward(tmp_path: Path) -> None:
    found = opened(tmp_path, LOG)
    assert rows(found, "SELECT layer, type, kind, direction, dur_ns, n FROM layer_times ORDER BY id") == [
        ("Convolution37", "Convolution", "conv", "forward", 12_345_000, 10),
        ("Convolution37", "Convolution", "conv", "backward", 23_456_000, 10),
        ("Plus39", "Plus", "bias", "forward", 345_000, 10),
        ("a long name of a node that is longer than thirty", "a", "other", "forward", 1000, 10),
        ("a long name of a node that is longer than thirty", "a", "other", "backward", 2000, 9),
    ]


def test_a_node_that_comes_again_begins_another_run(tmp_path: Path) -> None:
    found = opened(tmp_path, LOG + LOG)
    assert rows(found, "SELECT run, count(*) FROM layer_times GROUP BY run ORDER BY run") == [(1, 5), (2, 5)]


@pytest.mark.parametrize("end", first(2, [100, 200, 260, len(LOG) - 1]))
def test_cut_at_any_byte(tmp_path: Path, end: int) -> None:
    unknown = tmp_path / "unknown"
    unknown.write_text(LOG[:end])
    whole = LOG[:end].count("|bwd# 10)") * 2 + LOG[:end].count("|bwd# 0)") + LOG[:end].count("|bwd# 9)") * 2
    if not whole:
        with pytest.raises(InputError, match="is not a recognised trace format"):
            store.convert([unknown], tmp_path / "cut")
        return
    found = connected(store.convert([unknown], tmp_path / "cut"))
    assert rows(found, "SELECT count(*) FROM layer_times") == [(whole,)]


def test_it_is_known_by_content_alone(tmp_path: Path) -> None:
    unknown = tmp_path / "unknown"
    unknown.write_text(LOG)
    assert [reader for reader in READERS if reader.sniff(peek(unknown))] == [cntk_timing]


def test_a_real_log_splits_a_network_as_the_studies_do(root: Path, captures: Any) -> None:
    """LeNet, batch 64: convolution, bias (Plus), activation and pooling have times of their own, forward and backward."""
    found = captures.open(root / "samples/cntk_timing/cntk-2.7-lenet-cpu.txt.gz")
    assert rows(
        found,
        """SELECT kind, direction, count(*), sum(dur_ns) FROM layer_times
        WHERE kind IN ('conv', 'bias', 'pooling') GROUP BY ALL ORDER BY 1, 2""",
    ) == [
        ("bias", "backward", 4, 1_107_000),
        ("bias", "forward", 4, 1_078_000),
        ("conv", "backward", 2, 11_149_000),
        ("conv", "forward", 2, 4_764_000),
        ("pooling", "backward", 2, 3_366_000),
        ("pooling", "forward", 2, 1_034_000),
    ]
    assert rows(found, "SELECT DISTINCT n FROM layer_times") == [(20,)]
    assert rows(found, "SELECT n_dropped, problems FROM captures") == [(None, None)]


COLLECTED = """\
traceview-cntk\tstep\t3\t1795000000000000000\t1795000000000060000
traceview-cntk\tstep\t4\t1795000000000070000\t1795000000000120000
traceview-cntk\tstep\t5\t1795000000000090000\t1795000000000080000
traceview-cntk\tlayer\tConvolution317\tblock.conv 1
traceview-cntk\tlayer\tPlus319\tblock.conv 1
Convolution317                 forward avg 0.001597s, backward avg 0.001636s (fwd# 2|bwd# 2)
Plus319                        forward avg 0.000771s, backward avg 0.000867s (fwd# 2|bwd# 2)
Minus444                       forward avg 0.000002s, backward avg 0.000000s (fwd# 2|bwd# 0)
"""


def test_what_a_collector_adds_are_layers_and_steps(tmp_path: Path) -> None:
    path = tmp_path / "rank-0000.cntk.txt"
    path.write_text(COLLECTED)
    connection = connected(store.convert([path], tmp_path / "capture"))
    found = connection.execute("SELECT layer, type, kind, direction, dur_ns, n FROM layer_times ORDER BY id").fetchall()
    assert found == [
        ("block.conv 1", "Convolution", "conv", "forward", 1_597_000, 2),
        ("block.conv 1", "Convolution", "conv", "backward", 1_636_000, 2),
        ("block.conv 1", "Plus", "bias", "forward", 771_000, 2),
        ("block.conv 1", "Plus", "bias", "backward", 867_000, 2),
        ("Minus444", "Minus", "elementwise", "forward", 2_000, 2),
    ]
    # No device was recorded: whether one was busy is not known.
    assert connection.execute(
        "SELECT step, start_ns, dur_ns, busy_ns, idle_ns FROM steps ORDER BY step"
    ).fetchall() == [
        (3, 0, 60_000, None, None),
        (4, 70_000, 50_000, None, None),
    ]
    assert connection.execute("SELECT kind, n FROM quality").fetchall() == [("steps that end before they begin", 1)]
    assert connection.execute("SELECT n_events, n_kept, n_dropped FROM captures").fetchall() == [(8, 7, 1)]


def test_the_overview_answers_by_averages(root: Path, captures: Any) -> None:
    """Forward passes and gradients of every layer, and what the kinds add up to in one iteration."""
    found = captures.open(root / "samples/cntk_timing/cntk-2.7-alexnet-cpu.txt.gz")
    layers = section(found, "overview/convolutions")
    assert pick(layers[:2], "layer", "direction", "calls") == [("conv2", None, 1), ("conv4", None, 1)]
    first = next(row for row in layers if row["layer"] == "conv1" and row["direction"] == "fprop")
    assert first["total_ns"] == pytest.approx(110_738_000, rel=1e-3)
    kinds = section(found, "overview/categories")
    assert kinds[0]["category"] == "conv"
    assert kinds[0]["busy_ns"] == pytest.approx(sum(row["total_ns"] for row in layers))
