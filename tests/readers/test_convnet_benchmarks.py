"""convnet-benchmarks: Torch's passes, fbfft's tuner and TensorFlow's means."""

# ruff: noqa: E501 -- lines of logs are as long as the tool prints them

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from asked import connected, opened, rows

from traceview import store
from traceview.decode.files import peek
from traceview.errors import InputError
from traceview.readers import READERS, convnet_benchmarks

TORCH = """\
Running on device: Graphics Device\t
\t
CONFIG: input = 3x128x128 * ker = 3x96x11x11 (bs = 128, stride = 1)\t
cudnn.SpatialConvolution                :updateOutput():      56.31\t
cudnn.SpatialConvolution             :updateGradInput():      72.98\t
cudnn.SpatialConvolution           :accGradParameters():      67.05\t
cudnn.SpatialConvolution                         :TOTAL:     196.34\t
"""
TUNER = """\
ModelType: AlexNet\tKernels: fbfft\tInput shape: 128x3x224x224\t
I0505 17:26:10.509590 30142 Tuner.cpp:160] START exploring FFT perf for pass = updateGradInput  (b x p x f) = 128x64x192 (input rows x cols) = 31x31 (filter rows x cols) = 5x5 (common rows x cols) = 31x31
I0505 17:26:11.584348 30142 Tuner.cpp:115] Found best cufft result   Buffer=375.39M strategy = (FBMM cuFFT) (b x p x f) = 128x64x192 (input rows x cols) = 31x31 (filter rows x cols) = 5x5 (common rows x cols) = 32x32  GReductions(virtual fmas)/s = 3959.91  time = 9.54ms
I0505 17:26:11.584365 30142 Tuner.cpp:166] Found best result   Buffer=375.39M strategy = (FBMM cuFFT) (b x p x f) = 128x64x192 (input rows x cols) = 31x31 (filter rows x cols) = 5x5 (common rows x cols) = 32x32  GReductions(virtual fmas)/s = 3959.91  time = 9.54ms
fbfft                                   :updateOutput():      31.05\t
fbfft                                        :Forward:      31.05\t
fbfft                                       :Backward:      72.80\t
"""
TENSORFLOW = """\
I tensorflow/core/common_runtime/gpu/gpu_init.cc:88] Found device 0 with properties:
name: GeForce GTX TITAN X
2015-11-11 02:37:12.022168: step 10, duration = 0.100
2015-11-11 02:37:21.053641: Forward across 100 steps, 0.096 +/- 0.014 sec / batch
2015-11-11 02:38:07.783008: Forward-backward across 100 steps, 0.326 +/- 0.033 sec / batch
"""


def test_passes_of_torch(tmp_path: Path) -> None:
    found = opened(tmp_path, TORCH)
    layer = "input = 3x128x128 * ker = 3x96x11x11 (bs = 128, stride = 1)"
    assert rows(found, "SELECT layer, kind, impl, direction, dur_ns FROM layer_times ORDER BY id") == [
        (layer, "conv", "cudnn.SpatialConvolution", "forward", 56_310_000),
        (layer, "conv", "cudnn.SpatialConvolution", "backward_data", 72_980_000),
        (layer, "conv", "cudnn.SpatialConvolution", "backward_filter", 67_050_000),
        (layer, "conv", "cudnn.SpatialConvolution", "forward_backward", 196_340_000),
    ]
    assert rows(found, "SELECT name FROM devices") == [("Graphics Device",)]


def test_what_the_tuner_found(tmp_path: Path) -> None:
    """With the buffer it took; `Found best result` repeats one of the two, `:Forward:` repeats `:updateOutput():`."""
    found = opened(tmp_path, TUNER)
    assert rows(
        found, "SELECT network, layer, impl, direction, dur_ns, workspace, kind FROM layer_times ORDER BY id"
    ) == [
        (
            "AlexNet 128x3x224x224",
            "(b x p x f) = 128x64x192 (input rows x cols) = 31x31 (filter rows x cols) = 5x5",
            "cufft",
            "backward_data",
            9_540_000,
            "375.39M",
            "conv",
        ),
        ("AlexNet 128x3x224x224", None, "fbfft", "forward", 31_050_000, None, None),
        ("AlexNet 128x3x224x224", None, "fbfft", "backward", 72_800_000, None, None),
    ]


def test_means_of_tensorflow(tmp_path: Path) -> None:
    found = opened(tmp_path, TENSORFLOW)
    assert rows(found, "SELECT direction, dur_ns, n, deviation_ns FROM layer_times ORDER BY id") == [
        ("forward", 96_000_000, 100, 14_000_000),
        ("forward_backward", 326_000_000, 100, 33_000_000),
    ]
    assert rows(found, "SELECT args->>'$.ns' FROM events WHERE category = 'iteration'") == [("100000000",)]
    assert rows(found, "SELECT name FROM devices") == [("GeForce GTX TITAN X",)]


@pytest.mark.parametrize("text", [TORCH, TUNER, TENSORFLOW])
def test_it_is_known_by_content_alone(tmp_path: Path, text: str) -> None:
    unknown = tmp_path / "unknown"
    unknown.write_text(text)
    assert [reader for reader in READERS if reader.sniff(peek(unknown))] == [convnet_benchmarks]


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "kept"), [(TORCH, {0.5: 1, 0.8: 2, 0.97: 3}), (TUNER, {0.8: 0, 0.97: 2}), (TENSORFLOW, {0.5: 0, 0.97: 2})]
)
def test_cut_anywhere_keeps_what_came_before(tmp_path: Path, text: str, kept: dict[float, int]) -> None:
    for share, n_kept in kept.items():
        unknown = tmp_path / f"unknown{share}"
        unknown.write_text(text[: int(len(text) * share)])
        if not n_kept:
            with pytest.raises(InputError, match="is not a recognised trace format"):
                store.convert([unknown], tmp_path / f"cut{share}")
            continue
        found = connected(store.convert([unknown], tmp_path / f"cut{share}"))
        assert rows(found, "SELECT n_kept FROM captures") == [(n_kept,)]
        assert rows(found, "SELECT kind, n FROM quality") == [
            ("the last line does not end: the file may be cut off there", 1)
        ]


@pytest.mark.shared
def test_the_public_layer_wise_log_agrees_with_its_table(shared: Path, captures: Any) -> None:
    found = captures.open(shared / "studies/convnet-benchmarks_084c4f0_layerwise_output.log")
    query = """SELECT 'L' || dense_rank() OVER (ORDER BY first), impl, direction, dur_ns
        FROM (SELECT *, min(id) OVER (PARTITION BY layer) AS first FROM layer_times)"""
    stored = {row[:3]: row[3] for row in rows(found, query)}
    passes = {"TOTAL": "forward_backward", **convnet_benchmarks._PASSES}
    with (shared / "studies/convnet_layerwise_titanx_084c4f0.csv").open(encoding="utf-8") as file:
        listed = list(csv.DictReader(file))
    assert len(listed) == len(stored) == 80
    for row in listed:
        assert stored[row["layer"], row["impl"], passes[row["pass"]]] == round(float(row["ms"]) * 1e6)


@pytest.mark.shared
def test_the_public_tuner_log_agrees_with_its_table(shared: Path, captures: Any) -> None:
    found = captures.open(shared / "studies/convnet-benchmarks_cff9dc3_torch_output_raw.log")
    query = "SELECT impl, direction, dur_ns, workspace FROM layer_times WHERE workspace IS NOT NULL ORDER BY id"
    stored = rows(found, query)
    with (shared / "studies/fbfft_tuner_titanx_cff9dc3.csv").open(encoding="utf-8") as file:
        listed = list(csv.DictReader(file))
    assert len(stored) == len(listed) == 45
    for (impl, direction, ns, workspace), row in zip(stored, listed, strict=True):
        assert (impl, direction) == (row["impl"], convnet_benchmarks._PASSES[row["pass"]])
        assert (ns, workspace) == (round(float(row["time_ms"]) * 1e6), f"{row['buffer_MB']}M")
