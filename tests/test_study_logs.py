"""Studies of convolution algorithms re-done from public logs: which is best per layer, and what an option gives.

Published figures of convnet-benchmarks (Titan X Maxwell, batch 128): its README and the raw logs of its history.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from asked import connected
from expected_facts import one, rows

pytestmark = pytest.mark.shared
CONV = "kind = 'conv' AND layer IS NOT NULL"


@pytest.fixture(scope="module")
def log(shared: Path, captures):  # type: ignore[no-untyped-def]
    return cache(lambda name: connected(captures.folder_of(shared / f"studies/convnet-benchmarks_{name}.log")))


def ms(value: float) -> Any:
    return pytest.approx(value, abs=0.051)


def test_fft_beats_every_other_method_on_stride_1(log: Any) -> None:
    """Sum of three passes over five layers: cuDNN R2, im2col and GEMM, direct, FFT."""
    found = rows(
        log("084c4f0_layerwise_output"),
        """SELECT impl, sum(dur_ns) / 1e6 FROM layer_times WHERE direction <> 'forward_backward'
        GROUP BY impl ORDER BY 2""",
    )
    assert found == [
        ("nn.SpatialConvolutionCuFFT", ms(261.9)),
        ("ccn2.SpatialConvolution", ms(984.0)),
        ("cudnn.SpatialConvolution", ms(1025.4)),
        ("nn.SpatialConvolutionMM", ms(1301.7)),
    ]


def test_the_best_method_per_layer_and_pass(log: Any) -> None:
    """A schedule gains 1.09x over the best single method: direct convolution wins two forward passes."""
    connection = log("084c4f0_layerwise_output")
    best = """SELECT layer, direction, min(dur_ns) AS ns, arg_min(impl, dur_ns) AS impl FROM layer_times
        WHERE direction <> 'forward_backward' GROUP BY ALL"""
    assert one(connection, f"SELECT sum(ns) / 1e6 FROM ({best})") == ms(239.8)
    direct = rows(connection, f"SELECT layer[9:20], direction FROM ({best}) WHERE impl LIKE 'ccn2%' ORDER BY layer")
    assert direct == [("384x13x13 * ", "forward"), ("3x128x128 * ", "forward")]


@pytest.mark.parametrize(
    ("name", "forward", "backward", "total"),
    [("de7cfc3_caffe_output_alexnet", 117.33, 193.55, 324.8), ("6f718db_caffe_output_alexnet", 33.83, 70.01, 128.7)],
)
def test_convolutions_of_caffe(log: Any, name: str, forward: float, backward: float, total: float) -> None:
    connection = log(name)
    found = dict(
        rows(connection, f"SELECT direction, sum(dur_ns) / 1e6 FROM layer_times WHERE {CONV} GROUP BY direction")
    )
    assert found == {"forward": ms(forward), "backward": ms(backward)}
    whole = "SELECT dur_ns / 1e6 FROM layer_times WHERE layer IS NULL AND direction = 'forward_backward'"
    assert one(connection, whole) == ms(total)


def test_share_of_convolutions(log: Any) -> None:
    query = f"""SELECT 100 * sum(dur_ns) FILTER ({CONV})
        / any_value(dur_ns) FILTER (layer IS NULL AND direction = 'forward_backward') FROM layer_times"""
    assert one(log("6f718db_caffe_output_alexnet"), query) == ms(80.7)


def test_the_best_plan_for_alexnet(log: Any) -> None:
    """conv1 by cuDNN (FFT cannot do stride 4), the rest by fbfft: 3.76x over GEMM, 1.26x over cuDNN's heuristic."""
    by_caffe = f"SELECT sum(dur_ns) FROM layer_times WHERE {CONV}"
    first = f"SELECT sum(dur_ns) FROM layer_times WHERE {CONV} AND layer = 'conv1'"
    tuned = """SELECT sum(least(f, coalesce(h, f))) FROM (SELECT layer, direction, min(dur_ns) AS f, NULL AS h
        FROM layer_times WHERE workspace IS NOT NULL AND network LIKE 'AlexNet %' GROUP BY ALL)"""
    plan = one(log("6f718db_caffe_output_alexnet"), first) + one(log("cff9dc3_torch_output_raw"), tuned)
    assert plan / 1e6 == ms(82.70)
    assert one(log("de7cfc3_caffe_output_alexnet"), by_caffe) / plan == pytest.approx(3.76, abs=0.005)
    assert one(log("6f718db_caffe_output_alexnet"), by_caffe) / plan == pytest.approx(1.26, abs=0.005)


def test_without_the_gradient_of_the_input(log: Any) -> None:
    query = """SELECT dur_ns / 1e6 FROM layer_times WHERE layer IS NULL AND direction = 'forward_backward' AND run <= 3
        ORDER BY run"""
    with_gradient = [value for (value,) in rows(log("caffe_output_forceGradInput"), query)]
    without = [value for (value,) in rows(log("caffe_output_noGradInput"), query)]
    assert with_gradient == [ms(294.3), ms(542.6), ms(289.3)]
    assert without == [ms(211.2), ms(391.0), ms(205.8)]


@pytest.mark.parametrize(
    ("commit", "forward", "both"),
    [
        ("f831524", 0.100, 0.420),
        ("b27b0a5", 0.096, 0.326),
        ("1d7ce75", 0.100, 0.328),
        ("978b40f", 0.070, 0.292),
        ("1f09e1e", 0.070, 0.277),
        ("2888b23", 0.034, 0.150),
        ("84b5bb1", 0.026, 0.081),
    ],
)
def test_history_of_tensorflow(log: Any, commit: str, forward: float, both: float) -> None:
    found = rows(log(f"{commit}_tf_output_alexnet"), "SELECT direction, dur_ns / 1e9 FROM layer_times ORDER BY id")
    assert found == [("forward", forward), ("forward_backward", both)]


def test_buffers_of_fft(log: Any) -> None:
    """FFT needs several times the memory of its tensors: the largest buffers the tuner found."""
    query = "SELECT max(CAST(rtrim(workspace, 'M') AS DOUBLE)) FROM layer_times WHERE network LIKE 'AlexNet%'"
    assert one(log("cff9dc3_torch_output_raw"), query + " AND impl = 'fbfft'") == 297.8
    assert one(log("cff9dc3_torch_output_raw"), query) == 380.63
