"""Numbers for people: the unit follows from the name, the scale from the values, and nothing becomes zero."""

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
        ("busy_ns", (10_692_000,), ["busy [ms]", "10.69"]),
        ("dur_ns", (2_069_000, 8_000, 9_000, 4_000), ["dur [us]", "2,069.000", "8.000", "9.000", "4.000"]),
        (
            "host_ns",
            (11_918_447_000, 295_000, 329_000, 111_000),
            ["host [ms]", "11,918.447", "0.295", "0.329", "0.111"],
        ),
        ("dur_ns", (999, 12), ["dur [ns]", "999", "12"]),
        ("mean_ns", (12.5, 999.25), ["mean [ns]", "12.5", "999.2"]),
        ("span_ns", (61_000_000_000,), ["span [s]", "61.00"]),
        ("size_bytes", (7_195_376_000, 244_403_360, None), ["size", "7.20 GB", "244 MB", "-"]),
        ("size_bytes", (512, 999_600), ["size", "512 B", "1.00 MB"]),
        ("rate_bytes_per_s", (4.4e9, 0, 5.9e12), ["rate", "4.40 GB/s", "0 B/s", "5.90 TB/s"]),
        ("peak_flop_per_s", (19_500_000_000_000,), ["peak", "19.5 TFLOP/s"]),
        ("intensity_flop_per_byte", (12.25,), ["intensity [FLOP/B]", "12.2"]),
        ("samples_per_s", (1234.5,), ["samples [1/s]", "1,234.5"]),
        ("work_flop", (1_420_000_000, -5_000), ["work", "1.42 GFLOP", "-5.00 kFLOP"]),
        ("clock_hz", (1_410_000_000,), ["clock", "1.41 GHz"]),
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


def test_a_table_has_one_unit_of_time_whatever_a_column_holds() -> None:
    """`total` in ms beside `main` in us reads as if main were the larger."""
    total, main = [175_000, 900_000], [43_009, 2_000]
    unit = units.time_unit([*total, *main])
    assert [units.style(name, values, unit).header for name, values in (("total_ns", total), ("main_ns", main))] == [
        "total [us]",
        "main [us]",
    ]


@pytest.mark.parametrize(
    ("name", "value", "printed"),
    [
        ("step_ns", 222_368_000, "222 ms"),
        ("step_ns", 999_600, "1.00 ms"),
        ("gap_ns", 12, "12 ns"),
        ("share_pct", 23.61, "23.6 %"),
        ("share_pct", 0.01, "<0.1 %"),
        ("size_bytes", 5_900_000_000, "5.90 GB"),
        ("steps", 3, "3"),
        ("name", "conv", "conv"),
    ],
)
def test_a_quantity_in_a_sentence(name: str, value: object, printed: str) -> None:
    assert units.quantity(name, value) == printed


def test_numbers_too_small_for_decimals_have_an_exponent() -> None:
    errors = units.style("error", [1.5e-06, 2e-05, 0.0, None])
    assert [errors.text(value) for value in (1.5e-06, 2e-05, 0.0, None)] == ["1.5e-06", "2.0e-05", "0.00", "-"]
    assert units.style("ratio", [0.98, 1.2, 0.001]).text(0.001) == "<0.01"
