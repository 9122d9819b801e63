"""Published times become rows, and the rows say what the studies worked out from them.

Sources: DeepBench (Titan X), convnet-benchmarks' logs; figures as printed there or derived from them by arithmetic.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from traceview.errors import InputError
from traceview.experiments.imports import csv_tables, published

Row = dict[str, Any]
LAYERWISE = """Running on device: Graphics Device
CONFIG: input = 3x128x128 * ker = 3x96x11x11 (bs = 128, stride = 1)
cudnn.SpatialConvolution                :updateOutput():      56.31
nn.SpatialConvolutionMM                 :updateGradInput():      92.17
nn.SpatialConvolutionCuFFT              :accGradParameters():      40.27
nn.SpatialConvolutionCuFFT              :TOTAL:     134.27
"""
CAFFE = """I0228 23:01:59.106209 24487 net.cpp:49] Initializing net from parameters:
name: "small"
{force}input: "data"
input_dim: 2
input_dim: 3
input_dim: 32
input_dim: 32
layer {{
  name: "conv1/first"
  type: "Convolution"
  convolution_param {{
    num_output: 8
    pad: 1
    kernel_size: 5
    stride: 2
    group: 1
  }}
}}
I0228 23:01:59.10 24487 net.cpp:425] conv1/first <- data
I0228 23:01:59.10 24487 net.cpp:399] conv1/first -> conv1
I0228 23:01:59.25 24487 net.cpp:141] Setting up conv1/first
I0228 23:01:59.25 24487 net.cpp:148] Top shape: 2 8 15 15 (3600)
I0228 23:02:00.00 24487 caffe.cpp:312] *** Benchmark begins ***
I0228 23:02:00.00 24487 caffe.cpp:313] Testing for 10 iterations.
I0228 23:02:00.00 24487 caffe.cpp:365] Average time per layer:
I0228 23:02:00.00 24487 caffe.cpp:368]     conv1/first\tforward: 1.5 ms.
I0228 23:02:00.00 24487 caffe.cpp:371]     conv1/first\tbackward: 4.25 ms.
"""


def rows_of(file: Path) -> list[Row]:
    return published.gather([file]).rows["algorithm_times"]


def test_a_log_of_torch(tmp_path: Path) -> None:
    file = tmp_path / "convnet-benchmarks_084c4f0_layerwise_output.log"
    file.write_text(LAYERWISE)
    found = rows_of(file)
    assert [(row["backend"], row["algorithm"], row["direction"], row["wall_ns"]) for row in found] == [
        ("cuDNN", "implicit_gemm", "fprop", 56_310_000),
        ("Torch 7", "explicit_gemm", "dgrad", 92_170_000),
        ("fbcunn", "fft", "wgrad", 40_270_000),
    ]
    first = found[0]
    assert (first["layer"], first["batch"], first["in_channels"], first["height"], first["out_channels"]) == (
        "L1", 128, 3, 128, 96,
    )  # fmt: skip
    assert f"{first['flop'] / 1e9:.2f}" == "124.22" and first["status"] == "published"
    assert first["backend_version"] == "R2" and first["source"].endswith("at 084c4f0")


def test_what_only_the_name_of_a_file_tells_is_not_made_up(tmp_path: Path) -> None:
    file = tmp_path / "other.log"
    file.write_text(LAYERWISE)
    first = rows_of(file)[0]
    assert first["backend"] == "cuDNN" and first["source"] == "other.log"
    assert not {"algorithm", "device", "backend_version"} & first.keys()


@pytest.mark.parametrize(
    ("force", "direction", "passes"),
    [("", "wgrad", 1), ("force_backward: true\n", "backward", 2)],
    ids=["own", "forced"],
)
def test_a_log_of_caffe(tmp_path: Path, force: str, direction: str, passes: int) -> None:
    """The first layer's backward pass is its filter's gradient alone unless the net forces the input's."""
    file = tmp_path / "caffe.log"
    file.write_text(CAFFE.format(force=force))
    forward, backward = rows_of(file)
    shape = ("layer", "batch", "in_channels", "height", "out_channels", "filter_width", "stride_h", "pad_w", "n")
    assert tuple(forward[name] for name in shape) == ("conv1", 2, 3, 32, 8, 5, 2, 1, 10)
    assert (forward["direction"], forward["wall_ns"], forward["flop"]) == ("fprop", 1_500_000, 2 * 2 * 8 * 75 * 15 * 15)
    assert (backward["direction"], backward["wall_ns"], backward["flop"]) == (
        direction, 4_250_000, passes * forward["flop"],
    )  # fmt: skip


SWEEP = (
    "batch,in_channels,height,width,out_channels,filter_height,filter_width,algorithm,backend,ms,workspace_mb,pad_h\n"
)


def test_a_sweep_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "sweep.csv"
    file.write_text(SWEEP + "4,64,28,28,32,3,3,winograd,mine,0.25,1.5,1\n")
    (row,) = rows_of(file)
    assert (row["wall_ns"], row["workspace_bytes"], row["direction"], row["pad_h"], row["pad_w"]) == (
        250_000, 1_500_000, "fprop", 1, 0,
    )  # fmt: skip
    assert row["layer"] == "64x28x28 k32 3x3" and row["flop"] == 2 * 4 * 32 * 64 * 9 * 28 * 26


def test_a_stride_a_padding_and_a_pass_stand_for_both_directions_and_other_columns_are_named(tmp_path: Path) -> None:
    """The first layer of AlexNet, 2 x 128 x 96 x 3 x 11 x 11 x 55 x 55 FLOP in each pass."""
    file = tmp_path / "alexnet.csv"
    head = "network,batch,in_channels,height,width,out_channels,filter_height,filter_width,stride,pad,pad_h,pass,ms\n"
    lines = [f"alex,128,3,227,227,96,11,11,4,0,,{name},{ms}\n" for ms, name in enumerate(("fprop", "dgrad"), 2)]
    file.write_text(head + "".join(lines) + "alex,1,64,28,28,32,3,3,2,1,2,wgrad,9\n")
    found = published.gather([file])
    columns = ("direction", "stride_h", "stride_w", "pad_h", "pad_w", "flop")
    assert [tuple(row[name] for name in columns) for row in found.rows["algorithm_times"]] == [
        ("fprop", 4, 4, 0, 0, 26_986_291_200), ("dgrad", 4, 4, 0, 0, 26_986_291_200),
        ("wgrad", 2, 2, 2, 1, 2 * 32 * 64 * 9 * 15 * 14),
    ]  # fmt: skip
    assert found.lost == [(file, "column (network)", 1)]


def test_a_pass_has_one_name(tmp_path: Path) -> None:
    """A time of both gradients is of twice the FLOP."""
    file = tmp_path / "sweep.csv"
    names = {"forward": "fprop", "backward_data": "dgrad", "backward_filter": "wgrad", "backward": "backward"}
    lines = [f"4,64,28,28,32,3,3,fft,mine,1,,1,{name}\n" for name in (*names, *names.values())]
    file.write_text(SWEEP.replace("\n", ",direction\n") + "".join(lines))
    found = [(row["direction"], row["flop"] // (2 * 4 * 32 * 64 * 9 * 28 * 26)) for row in rows_of(file)]
    assert found == [("fprop", 1), ("dgrad", 1), ("wgrad", 1), ("backward", 2)] * 2
    file.write_text(SWEEP.replace("\n", ",direction\n") + lines[0] + "4,64,28,28,32,3,3,fft,mine,1,,1,bwd_data\n")
    with pytest.raises(InputError, match=r"line 3 .*direction 'bwd_data' is not one of fprop, dgrad, wgrad, backward"):
        published.gather([file])


def test_of_many_columns_ten_are_named_and_those_that_number_rows_are_none(tmp_path: Path) -> None:
    file = tmp_path / "sweep.csv"
    head = ",rank,in_channels,height,width,out_channels,filter_height,filter_width,ms"
    cells = "0,0,3,227,227,96,11,11,2"
    file.write_text(f"{head}\n{cells}\n")
    assert published.gather([file]).lost == []
    more = "".join(f",a column of notes by its number: {i}" for i in range(1, 13))
    file.write_text(f"{head}{more}\n{cells}{',x' * 12}\n")
    named = ", ".join(f"a column of notes by its number: {i}" for i in range(1, 11))
    assert published.gather([file]).lost == [(file, f"columns ({named} and 2 more)", 12)]


def test_what_an_exported_study_measured_is_published_here(tmp_path: Path) -> None:
    """Rows without a time, or of a wrong result, are left out."""
    file = tmp_path / "colleague.csv"
    lines = ("winograd,mine,0.25,,1,measured", "fft,mine,,,1,cannot", "direct,mine,0.1,,1,wrong")
    file.write_text(SWEEP.replace("\n", ",status\n") + "".join(f"4,64,28,28,32,3,3,{line}\n" for line in lines))
    (row,) = rows_of(file)
    assert (row["algorithm"], row["status"], row["source"]) == ("winograd", "published", "colleague.csv")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("4,64,28,28,32,3,x,winograd,mine,0.25,,1", "line 2 holds a value that cannot be read"),
        ("4,64,28,,32,3,3,winograd,mine,1,,1", "line 2 holds a value that cannot be read"),
        ("4,64,28,28,32,3,3,winograd,mine,nan,,1", "line 2 holds a value that cannot be read"),
        ("4,64,28,28,32,3,3,winograd,mine,0,,1", r"line 2 .*0 is not a time"),
        ("4,64,28,28,32,3,3,winograd,mine,1e-7,,1", r"line 2 .*1e-7 is not a time"),
        ("4,64,28,28,32,99,3,winograd,mine,1,,1", "the filter is larger than the padded image"),
    ],
)
def test_a_value_that_is_wrong_is_an_error(tmp_path: Path, line: str, reason: str) -> None:
    file = tmp_path / "sweep.csv"
    file.write_text(SWEEP + line + "\n")
    with pytest.raises(InputError, match=reason):
        published.gather([file])


def test_what_holds_no_times_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.log").write_text("nothing\n")
    with pytest.raises(InputError, match=r"no published times of convolutions in 2 files \(a\.csv: a CSV without"):
        published.gather([tmp_path])
    (tmp_path / "c.csv").write_text(SWEEP + "4,64,28,28,32,3,3,winograd,mine,0.25,,1\n")
    found = published.gather([tmp_path])
    assert [(file.name, n) for file, n in found.read] == [("c.csv", 1)]
    assert [file.name for file, _ in found.passed_over] == ["a.csv", "b.log"]


@pytest.fixture(scope="module")
def studies(shared: Path) -> published.Published:
    return published.gather([shared / "studies"])


def test_times_of_other_types_and_devices_in_deepbenchs_layout_are_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "deepbench.csv"
    head = "W,H,C,N,K,S_filter_w,R_filter_h,pad_w,pad_h,stride_w,stride_h,groups,precision,device,fwd_ms,bwd_data_ms"
    sizes = "700,161,1,4,32,20,5,0,0,2,2,1"
    lines = ("fp16,Tesla V100,0.05,,IMPLICIT_GEMM,1", "FP32,Tesla V100,0.21,,FFT,2", "float,TITAN X,,0.4,FFT,3")
    text = "\n".join((f"{head},fwd_algorithm,notes", *(f"{sizes},{line}" for line in lines)))
    file.write_text(text)
    found = published.gather([file])
    columns = ("dtype", "device", "direction", "wall_ns", "algorithm")
    assert [tuple(row.get(name) for name in columns) for row in found.rows["algorithm_times"]] == [
        ("float16", "Tesla V100", "fprop", 50_000, "implicit_gemm"),
        ("float32", "Tesla V100", "fprop", 210_000, "fft"),
        ("float32", "TITAN X", "dgrad", 400_000, None),
    ]
    assert found.lost == [(file, "column (notes)", 1)]
    file.write_text(text.replace(",2,2,1,fp16", ",2,2,2,fp16"))
    with pytest.raises(InputError, match="2 groups do not divide its channels"):
        published.gather([file])


def test_columns_that_no_pass_of_deepbenchs_layout_has_are_named(tmp_path: Path) -> None:
    """Its workspace is that of the algorithm that it names, which is the forward pass's."""
    file = tmp_path / "deepbench.csv"
    more = "model,layer,algorithm,implementation,reason,direction,pass,ms,wall_ns,wall_low_ns"
    file.write_text(
        "W,H,C,N,K,S_filter_w,R_filter_h,pad_w,pad_h,stride_w,stride_h,fwd_ms,bwd_data_ms,bwd_filter_ms,fwd_algorithm,"
        f"workspace_mb,dtype,{more}\n700,161,1,4,32,20,5,0,0,2,2,0.05,0.07,0.09,IMPLICIT_GEMM,100,fp16,"
        "DeepSpeech,conv1,gemm,gemm,own,wgrad,forward,7,7000000,6000000\n"
    )
    found = published.gather([file])
    columns = ("model", "direction", "wall_ns", "wall_low_ns", "algorithm", "workspace_bytes", "dtype")
    assert [tuple(row.get(name) for name in columns) for row in found.rows["algorithm_times"]] == [
        ("DeepBench", "fprop", 50_000, None, "implicit_gemm", 100_000_000, "float16"),
        ("DeepBench", "dgrad", 70_000, None, None, None, "float16"),
        ("DeepBench", "wgrad", 90_000, None, None, None, "float16"),
    ]
    assert found.lost == [(file, f"columns ({more.replace(',', ', ')})", 10)]


@pytest.mark.shared
def test_every_published_row_is_read(studies: published.Published) -> None:
    assert {file.name[:35]: n for file, n in studies.read} == {
        "convnet-benchmarks_084c4f0_layerwis": 60,
        "convnet-benchmarks_6f718db_caffe_ou": 10,
        "convnet-benchmarks_caffe_output_for": 10,
        "convnet-benchmarks_caffe_output_noG": 10,
        "convnet-benchmarks_cff9dc3_torch_ou": 45,
        "convnet-benchmarks_de7cfc3_caffe_ou": 10,
        "deepbench_titanx_maxwell_allreduce.": 35,
        "deepbench_titanx_maxwell_conv.csv": 272,
    }
    assert all(
        row["status"] == "published" and row["device"] == "TITAN X (Maxwell)" for row in studies.rows["algorithm_times"]
    )


def sums(rows: list[Row], *names: str) -> dict[tuple[Any, ...], str]:
    found: dict[tuple[Any, ...], int] = defaultdict(int)
    for row in rows:
        found[tuple(row[name] for name in names)] += row["wall_ns"]
    return {key: f"{value / 1e6:.2f}" for key, value in found.items()}


@pytest.mark.shared
def test_the_layers_of_convnet_benchmarks(studies: published.Published) -> None:
    rows = [row for row in studies.rows["algorithm_times"] if row["model"] == "convnet-benchmarks layers"]
    found = {key: f"{float(value):.1f}" for key, value in sums(rows, "backend").items()}
    assert found == {
        ("cuDNN",): "1025.4", ("Torch 7",): "1301.7", ("cuda-convnet2",): "984.0", ("fbcunn",): "261.9",
    }  # fmt: skip
    flop = {row["layer"]: f"{row['flop'] / 1e9:.2f}" for row in rows}
    assert flop == {"L1": "124.22", "L2": "532.71", "L3": "195.69", "L4": "20.55", "L5": "41.11"}


@pytest.mark.slow
@pytest.mark.shared
def test_alexnet_layer_by_layer(studies: published.Published) -> None:
    """Sums of the convolutions of two logs of Caffe, and the tuner's FFT."""
    caffe = [row for row in studies.rows["algorithm_times"] if row["model"] == "alexnet"]
    assert sums(caffe, "backend", "direction") == {
        ("cuDNN", "fprop"): "33.83", ("cuDNN", "backward"): "70.01",
        ("Caffe", "fprop"): "117.33", ("Caffe", "backward"): "193.55",
    }  # fmt: skip
    tuned = [
        row for row in studies.rows["algorithm_times"] if row["model"] == "AlexNet" and row["implementation"] == "fbfft"
    ]
    assert [(row["in_channels"], row["direction"], row["wall_ns"], row["workspace_bytes"]) for row in tuned[:3]] == [
        (64, "fprop", 5_260_000, 291_500_000),
        (64, "dgrad", 4_720_000, 229_640_000),
        (64, "wgrad", 5_270_000, 244_320_000),
    ]


@pytest.mark.shared
def test_the_gradient_of_the_input_is_not_counted_where_it_was_not_computed(studies: published.Published) -> None:
    passes = {row["source"]: [] for row in studies.rows["algorithm_times"] if row["model"].startswith("ConvLayer")}
    assert list(passes) == ["github.com/soumith/convnet-benchmarks"]
    found = [row["direction"] for row in studies.rows["algorithm_times"] if row["model"].startswith("ConvLayer")]
    assert sorted(found) == ["backward"] * 5 + ["fprop"] * 10 + ["wgrad"] * 5


@pytest.mark.slow
@pytest.mark.shared
def test_the_rows_of_deepbench(studies: published.Published) -> None:
    rows = [
        row for row in studies.rows["algorithm_times"] if row["model"] == "DeepBench" and row["direction"] == "fprop"
    ]
    counts: dict[str, int] = defaultdict(int)
    for row in rows:
        counts[row["algorithm"]] += 1
    assert counts == {
        "implicit_precomp_gemm": 66, "implicit_gemm": 1, "winograd": 22, "winograd_nonfused": 3, "fft": 2,
    }  # fmt: skip
    best = max(row["flop"] / row["wall_ns"] / 1e3 for row in rows)
    assert f"{best:.2f}" == "9.35"
    others = [
        row for row in studies.rows["algorithm_times"] if row["model"] == "DeepBench" and row["direction"] != "fprop"
    ]
    assert {(row.get("algorithm"), row["reason"]) for row in others} == {(None, csv_tables.FORWARD_ONLY)}
