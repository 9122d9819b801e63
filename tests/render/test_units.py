"""What people read: the unit follows from the name, the scale from the values, and nothing becomes zero on the way."""

from __future__ import annotations

from decimal import Decimal

import pytest

from traceview.render import units


def column(name: str, *values: object) -> list[str]:
    """The header and the printed values of one column."""
    style = units.style(name, values)
    return [style.header, *(style.text(value) for value in values)]


@pytest.mark.parametrize(
    ("name", "values", "printed"),
    [
        ("busy_ns", (2_621_000, 39_000), ["busy [ms]", "2.621", "0.039"]),
        ("busy_ns", (10_692_000,), ["busy [ms]", "10.692"]),
        ("dur_ns", (2_069_000, 8_000, 9_000, 4_000), ["dur [ms]", "2.069", "0.008", "0.009", "0.004"]),
        (
            "host_ns",
            (11_918_447_000, 295_000, 329_000, 111_000),
            ["host [ms]", "11,918.447", "0.295", "0.329", "0.111"],
        ),
        ("dur_ns", (999, 12), ["dur [ns]", "999", "12"]),
        ("mean_ns", (12.5, 999.25), ["mean [ns]", "12.5", "999.2"]),
        ("span_ns", (61_000_000_000,), ["span [s]", "61.000"]),
        ("size_bytes", (244_403_360, None), ["size [MB]", "244.40", "-"]),
        ("size_bytes", (512,), ["size [B]", "512"]),
        ("rate_bytes_per_s", (4.4e9,), ["rate [GB/s]", "4.40"]),
        ("peak_flop_per_s", (19_500_000_000_000,), ["peak [TFLOP/s]", "19.50"]),
        ("samples_per_s", (1234.5,), ["samples [1/s]", "1,234.5"]),
        ("work_flop", (1_420_000_000,), ["work [GFLOP]", "1.42"]),
        ("clock_hz", (1_410_000_000,), ["clock [GHz]", "1.41"]),
        ("share_pct", (99.96, 0.04, 0, 12), ["share [%]", "100.0", "<0.1", "0.0", "12.0"]),
        ("calls", (1_234_567,), ["calls", "1,234,567"]),
        ("calls", (16.5, 2.0), ["calls", "16.50", "2.00"]),
        ("op_id", (1099511627776,), ["op id", "1099511627776"]),
        ("step", (12345,), ["step", "12345"]),
        ("is_warmup", (True, False, None), ["is warmup", "yes", "no", "-"]),
        ("n", (Decimal("2.50"),), ["n", "2.50"]),
        ("busy_ns", (), ["busy [ms]"]),
        ("idle_ns", (0, 0), ["idle [ms]", "0.000", "0.000"]),
        ("busy_ns", ("text stays",), ["busy [ms]", "text stays"]),
        ("a", (float("nan"), float("inf")), ["a", "nan", "inf"]),
    ],
)
def test_printed(name: str, values: tuple[object, ...], printed: list[str]) -> None:
    assert column(name, *values) == printed


def test_a_value_that_is_not_zero_never_looks_like_zero() -> None:
    most = [3_000_000_000] * 5
    assert column("busy_ns", *most, 7)[1:] == ["3.000"] * 5 + ["<0.001"]
    assert column("gap_ns", *most, -7)[6] == ">-0.001"


def test_a_suffix_alone_is_a_name() -> None:
    assert units.style("_ns", [5]).header == " ns"


def test_huge_counts_stay_exact() -> None:
    assert column("n", 2**70)[1] == "1,180,591,620,717,411,303,424"
