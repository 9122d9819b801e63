"""Convolutions of published benchmarks as captures: shapes and times are theirs, names of kernels stand in."""

from __future__ import annotations

import csv
from pathlib import Path

from given import Given, conv, conv_backward

KERNELS = {
    "IMPLICIT_GEMM": ("implicit_convolve_sgemm",),
    "IMPLICIT_PRECOMP_GEMM": ("maxwell_scudnn_128x128_relu_interior_nn",),
    "WINOGRAD": ("maxwell_scudnn_winograd_128x128_ldg1_ldg4_mobile_relu_tile148t_nt",),
    "WINOGRAD_NONFUSED": ("winogradForwardData4x4", "maxwell_sgemm_128x64_nn", "winogradForwardOutput4x4"),
    "FFT": (
        "flip_filter",
        "void fft2d_r2c_64x64<float>(float2*)",
        "maxwell_cgemm_32x64_tn",
        "void fft2d_c2r_64x64<float>(float*)",
    ),
}
LAYERS = {
    "L1": ((128, 3, 128, 128), (96, 3, 11, 11)),
    "L2": ((128, 64, 64, 64), (128, 64, 9, 9)),
    "L3": ((128, 128, 32, 32), (128, 128, 9, 9)),
    "L4": ((128, 128, 16, 16), (128, 128, 7, 7)),
    "L5": ((128, 384, 13, 13), (384, 384, 3, 3)),
}
"""convnet-benchmarks, stride 1 and no padding: input and filter."""


def deepbench(studies: Path) -> tuple[Given, list[dict[str, str]]]:
    """The 94 forward convolutions of DeepBench's training set on a Titan X (Maxwell), one call each, and their rows."""
    with (studies / "deepbench_titanx_maxwell_conv.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    given = Given()
    given.device("GeForce GTX TITAN X")
    at = 0.0
    for row in rows:
        size = {
            name: int(row[name]) for name in ("N", "C", "H", "W", "K", "R_filter_h", "S_filter_w", "stride_w", "pad_w")
        }
        x = (size["N"], size["C"], size["H"], size["W"])
        conv(
            given,
            at,
            x,
            (size["K"], size["C"], size["R_filter_h"], size["S_filter_w"]),
            size["stride_w"],
            size["pad_w"],
        )
        kernels = KERNELS[row["fwd_algorithm"]]
        each = 1000 * float(row["fwd_ms"]) / len(kernels)
        for number, kernel in enumerate(kernels):
            given.kernel(kernel, at + 20 + each * number, at + 20 + each * (number + 1), launched=at + number)
        at += 1000 * float(row["fwd_ms"]) + 100
    return given, rows


def layerwise() -> Given:
    """L1 to L5, each once forward and backward."""
    given = Given()
    for number, (name, (x, w)) in enumerate(LAYERS.items()):
        at = 1000.0 * number
        y = (x[0], w[0], x[2] - w[2] + 1, x[3] - w[3] + 1)
        given.span("module", name, at, at + 100)
        conv(given, at, x, w)
        given.kernel("implicit_convolve_sgemm", at + 20, at + 30, launched=at + 1)
        conv_backward(given, at + 40, x, w, y)
        given.kernel("dgrad_engine", at + 60, at + 70, launched=at + 41)
        given.kernel("wgrad_alg0_engine", at + 70, at + 80, launched=at + 43)
    return given
