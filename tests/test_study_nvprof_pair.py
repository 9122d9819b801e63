"""Two nvprof logs of one model before and after its first layer stopped being differentiated: the study, re-done.

TensorFlow 0.12 AlexNet, batch 16, GTX 980 (hclhkbu/dlbench at 29187fb): "new" also differentiates the input image and
applies SGD, "old" does not. Published figures: per steady step, the autotune step left out, as the last one has no end.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from expected_facts import one, rows

pytestmark = pytest.mark.shared
STEADY = "step BETWEEN 1 AND 16"

Pair = dict[str, duckdb.DuckDBPyConnection]


@pytest.fixture(scope="module")
def pair(shared: Path, captures) -> Pair:  # type: ignore[no-untyped-def]
    return {
        name: captures.open(shared / "traces/nvprof" / f"gtx980-tf-alexnet-{name}.txt.gz") for name in ("old", "new")
    }


def near(value: float, rel: float = 0.002) -> Any:
    return pytest.approx(value, rel=rel)


def per_step_ms(connection: duckdb.DuckDBPyConnection, condition: str) -> tuple[float, float]:
    """Milliseconds and launches per steady step of the activities that a condition picks."""
    ns, n = rows(
        connection, f"SELECT coalesce(sum(dur_ns), 0), count(*) FROM activities WHERE {STEADY} AND ({condition})"
    )[0]
    return ns / 16e6, n / 16


def test_steps_are_cut_at_the_upload_of_the_images(pair: Pair) -> None:
    for connection in pair.values():
        found = rows(connection, "SELECT count(*), any_value(found_by), count(*) FILTER (is_warmup) FROM steps")
        assert found == [(17, "guessed steps, from the largest recurring host-to-device copy", 0)]
        cuts = rows(connection, "SELECT DISTINCT size_bytes FROM memcpys SEMI JOIN steps USING (rank, start_ns)")
        assert cuts == [(16 * 3 * 224 * 224 * 4,)]


@pytest.mark.parametrize(("name", "period", "low", "high"), [("old", 48.751, 47.8, 49.5), ("new", 59.978, 59.2, 61.0)])
def test_step_period(pair: Pair, name: str, period: float, low: float, high: float) -> None:
    found = rows(
        pair[name], f"SELECT sum(dur_ns) / 16e6, min(dur_ns) / 1e6, max(dur_ns) / 1e6 FROM steps WHERE {STEADY}"
    )
    assert found[0] == (near(period, 1e-4), near(low), near(high))


def test_it_is_1_23_times_as_fast_without_the_first_layers_gradient(pair: Pair) -> None:
    old, new = (one(pair[name], f"SELECT sum(dur_ns) FROM steps WHERE {STEADY}") for name in ("old", "new"))
    assert new / old == near(1.23)


@pytest.mark.parametrize(
    ("name", "busy", "steady", "span", "whole"),
    [("old", 45.570, 93.5, 2.053, 51.2), ("new", 54.983, 91.7, 2.911, 67.3)],
)
def test_utilisation_depends_on_the_window(
    pair: Pair, name: str, busy: float, steady: float, span: float, whole: float
) -> None:
    """With the autotune step and the set-up the same run is half idle."""
    found = rows(pair[name], f"SELECT sum(busy_ns) / 16e6, 100 * sum(busy_ns) / sum(dur_ns) FROM steps WHERE {STEADY}")
    assert found[0] == (near(busy, 1e-4), near(steady, 0.001))
    window = rows(
        pair[name],
        """SELECT (max(end_ns) - min(start_ns)) / 1e9, 100
            * sum(greatest(end_ns - greatest(start_ns, coalesce(device_until_ns, start_ns)), 0))
            / (max(end_ns) - min(start_ns)) FROM activities""",
    )
    assert window[0] == (near(span, 1e-3), near(whole, 1e-3))


CUDNN = "category = 'conv' AND algorithm LIKE 'implicit%' AND role = 'main'"
FFT = "category = 'conv' AND algorithm LIKE 'fft%' AND name NOT LIKE 'compute_gemm_pointers%'"
EIGEN = "name LIKE '%Eigen%'"
FAMILIES = [
    ("kinds", "true", 45.739, None, 55.157, None),
    ("implicit GEMM of cuDNN", CUDNN, 18.274, 11, 20.185, 12),
    ("FFT", FFT, 6.676, 14, 6.645, 14),
    ("fully connected", "category = 'gemm'", 8.405, 15, 8.405, 15),
    ("layout", "category = 'layout_transpose'", 5.751, 54, 6.141, 57),
    ("of activations", "name LIKE '%SwapDimension1And2%'", 3.567, 40, 3.989, 42),
    ("of filters", "name LIKE '%SwapDimension0And2%'", 2.184, 14, 2.152, 15),
    ("Eigen", EIGEN, 1.766, 30, 7.302, 46),
    ("pooling", "category = 'pooling'", 1.448, 6, 1.233, 6),
    ("bias", "category = 'bias'", 1.036, 16, 0.985, 16),
    ("HtoD", "category = 'memcpy_htod'", 1.675, 4, 1.668, 4),
    ("DtoH", "category = 'memcpy_dtoh'", 0.0226, 4, 1.632, 6),
]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family[0])
def test_time_by_family(pair: Pair, family: tuple[str, str, float, int | None, float, int | None]) -> None:
    """The study counts the fully connected layers' helpers too: hence one per cent there."""
    name, condition, old_ms, old_n, new_ms, new_n = family
    rel = 0.012 if name == "fully connected" else 0.0025
    for trace, ms, n in (("old", old_ms, old_n), ("new", new_ms, new_n)):
        found = per_step_ms(pair[trace], condition)
        assert found[0] == near(ms, rel), trace
        assert n is None or found[1] == n, trace


@pytest.mark.parametrize(("name", "share"), [("old", 12.6), ("new", 11.1)])
def test_share_of_layout_changes(pair: Pair, name: str, share: float) -> None:
    layout, _ = per_step_ms(pair[name], "category = 'layout_transpose'")
    total, _ = per_step_ms(pair[name], "true")
    assert 100 * layout / total == near(share, 0.005)


UPLOAD = f"(SELECT min(start_ns) FROM memcpys WHERE direction = 'HtoD' AND size_bytes = {16 * 3 * 224 * 224 * 4})"
TUNED = f"start_ns >= {UPLOAD} AND start_ns < (SELECT min(start_ns) FROM steps)"
"""From the first upload to the first step that is like the others."""


@pytest.mark.parametrize(
    ("name", "span_ms", "n", "total_ms"), [("old", 826.8, 409, 242.5), ("new", 1431.1, 436, 991.3)]
)
def test_the_first_step_tunes(pair: Pair, name: str, span_ms: float, n: int, total_ms: float) -> None:
    span = one(pair[name], f"SELECT (min(start_ns) - {UPLOAD}) / 1e6 FROM steps")
    found = rows(pair[name], f"SELECT count(*), sum(dur_ns) / 1e6 FROM activities WHERE {TUNED}")
    assert (span, *found[0]) == (near(span_ms, 1e-4), n, near(total_ms, 1e-3))


ONLY_FIRST = f"""SELECT algorithm, direction, count(*) FROM kernels
WHERE {TUNED} AND category = 'conv' AND role = 'main'
    AND name NOT IN (SELECT name FROM kernels WHERE step IS NOT NULL) GROUP BY ALL"""


def test_losers_of_the_autotune(pair: Pair) -> None:
    """Convolution kernels seen only before the first step: TensorFlow tries every algorithm once per layer and pass."""
    assert sorted(rows(pair["old"], ONLY_FIRST), key=str) == [
        ("explicit_gemm", "fprop", 5),
        ("fft", None, 3),
        ("implicit_gemm", "dgrad", 4),
        ("implicit_gemm", "fprop", 5),
        ("implicit_gemm", "wgrad", 5),
        ("implicit_precomp_gemm", "dgrad", 1),
    ]
    transforms = one(pair["old"], "SELECT count(*) FROM kernels WHERE name LIKE '%fft2d_r2c_16x16%'")
    assert transforms == 18


def test_one_trial_of_the_first_layers_gradient_takes_736_ms(pair: Pair) -> None:
    trial = rows(
        pair["new"],
        "SELECT algorithm, direction, step, dur_ns / 1e6 FROM kernels WHERE name LIKE '%dgrad_alg1_engine%'",
    )
    assert trial == [("implicit_gemm", "dgrad", None, near(735.74, 1e-6))]
    assert one(pair["old"], "SELECT count(*) FROM kernels WHERE name LIKE '%dgrad_alg1_engine%'") == 0


def test_the_first_layers_gradient_is_one_kernel_more(pair: Pair) -> None:
    """And three transposes, a copy of the image's gradient to the host, and sixteen kernels of SGD."""
    gradient = "category = 'conv' AND direction = 'dgrad' AND role = 'main' AND algorithm = 'implicit_gemm'"
    assert per_step_ms(pair["old"], gradient) == (0, 0)
    assert per_step_ms(pair["new"], gradient) == (near(2.02, 0.01), 1)
    dgrad = "category = 'conv' AND direction = 'dgrad' AND role = 'main'"
    assert per_step_ms(pair["new"], dgrad)[1] - per_step_ms(pair["old"], dgrad)[1] == 1
    update = f"{EIGEN} AND category = 'elementwise'"
    assert per_step_ms(pair["new"], update)[1] - per_step_ms(pair["old"], update)[1] == 16
    down = "SELECT sum(size_bytes) / 16 / 1048576 FROM memcpys WHERE direction = 'DtoH' AND " + STEADY
    assert one(pair["new"], down) == near(9.1875, 1e-4)
    assert one(pair["old"], down) < 1e-4


def test_uploads_are_the_same(pair: Pair) -> None:
    for connection in pair.values():
        up = f"SELECT sum(size_bytes) / 16 / 1048576 FROM memcpys WHERE direction = 'HtoD' AND {STEADY}"
        assert one(connection, up) == near(9.2485, 1e-4)
