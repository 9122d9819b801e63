"""OpenCV's times of layers: averages over the recorded runs, steps, fused layers and damaged lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from asked import connected

from traceview import store
from traceview.errors import InputError

TEXT = """\
traceview-opencv\tstep\t3\t1795000000000000000\t1795000000000050000
traceview-opencv\tlayer\t3\tconv1\tConvolution\t30000
traceview-opencv\tlayer\t3\trelu1\tReLU\t0
traceview-opencv\tstep\t4\t1795000000000060000\t1795000000000100000
traceview-opencv\tlayer\t4\tconv1\tConvolution\t20000
traceview-opencv\tlayer\t4\trelu1\tReLU\t0
"""


def test_layers_are_averaged_and_a_fused_one_says_so(tmp_path: Path) -> None:
    path = tmp_path / "rank-0000.opencv.txt"
    path.write_text(TEXT + "traceview-opencv\tlayer\t4\tconv")
    connection = connected(store.convert([path], tmp_path / "capture"))
    columns = "layer, kind, direction, dur_ns, n, deviation_ns, impl"
    assert connection.execute(f"SELECT {columns} FROM layer_times ORDER BY id").fetchall() == [
        ("conv1", "conv", "forward", 25_000, 2, 5_000, None),
        ("relu1", "activation", "forward", 0, 2, 0, "fused, or nothing to do"),
    ]
    assert connection.execute("SELECT step, start_ns, dur_ns FROM steps ORDER BY 1").fetchall() == [
        (3, 0, 50_000),
        (4, 60_000, 40_000),
    ]
    assert connection.execute("SELECT n_events, n_kept, n_dropped FROM captures").fetchall() == [(7, 6, 1)]


def test_what_the_steps_leave_out_as_warm_up_is_in_no_average(tmp_path: Path) -> None:
    path = tmp_path / "rank-0000.opencv.txt"
    lines = []
    for step, ns in enumerate((180_000, 50_000, 30_000, 80_000)):
        start = 1795000000000000000 + 1_000_000 * step
        lines += [f"step\t{step}\t{start}\t{start + ns}", f"layer\t{step}\tconv1\tConvolution\t{ns - 1000}"]
    path.write_text("".join(f"traceview-opencv\t{line}\n" for line in lines))
    connection = connected(store.convert([path], tmp_path / "capture"))
    query = "SELECT (SELECT list(step ORDER BY step) FROM step_times WHERE NOT is_warmup), n, dur_ns FROM layer_times"
    assert connection.execute(query).fetchall() == [([1, 2, 3], 3, 52_333)]


def test_nothing_but_its_first_words_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "cut"
    path.write_text("traceview-opencv\tstep\t3\t17950000")
    with pytest.raises(InputError, match="cannot be used"):
        store.convert([path], tmp_path / "capture")
