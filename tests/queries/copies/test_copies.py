"""Small copies, bandwidth, pageable memory, and what is copied in every step."""

from __future__ import annotations

from pathlib import Path

import pytest
from asked import connected
from given import Given, pick, section, write


def test_a_small_copy_is_below_the_limit(tmp_path: Path) -> None:
    given = Given()
    for position, size in enumerate((4, 4095, 4096, 8192)):
        given.copy("HtoD", 10 * position, 10 * position + 2, size_bytes=size)
    given.copy("HtoD", 50, 52)  # no size recorded: not counted
    given.copy("memset", 60, 62, size_bytes=4)
    connection = given.open(tmp_path)
    found = section(connection, "copies/small")
    assert pick(found, "direction", "small", "small_pct", "size_bytes", "time_pct") == [("HtoD", 2, 50.0, 4099, 50.0)]
    assert pick(section(connection, "copies/small", below_bytes=4097), "small") == [(3,)]


def test_bandwidth_stands_beside_the_link(tmp_path: Path) -> None:
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    given.kernel("k", 0, 1)
    given.copy("HtoD", 10, 20, size_bytes=31_510, src_kind="pinned", dst_kind="device")
    given.copy("DtoD", 30, 31, size_bytes=777_500)
    given.copy("PtoP", 40, 41, size_bytes=777_500)
    found = {row["direction"]: row for row in section(given.open(tmp_path), "copies/bandwidth")}
    assert found["HtoD"]["throughput_bytes_per_s"] == 3.151e9
    assert found["HtoD"]["link_pct"] == pytest.approx(10)
    assert found["HtoD"]["size"] == "4 KiB to 64 KiB"
    assert found["DtoD"]["link_pct"] == pytest.approx(100)
    assert found["PtoP"]["link_bytes_per_s"] is None


def test_a_guessed_product_has_no_link(tmp_path: Path) -> None:
    """Kernels of Ampere run on each later product, whose memory may be twice as fast."""
    given = Given()
    given.device("GPU 0")
    given.kernel("ampere_sgemm_128x64_nn", 0, 1)
    given.copy("DtoD", 30, 31, size_bytes=1_600_000)
    (row,) = section(given.open(tmp_path), "copies/bandwidth")
    assert row["throughput_bytes_per_s"] == 1.6e12
    assert (row["link_bytes_per_s"], row["link_pct"]) == (None, None)


def test_the_pageable_share_counts_copies_whose_memory_is_known(tmp_path: Path) -> None:
    given = Given()
    given.copy("HtoD", 0, 3, size_bytes=300, src_kind="pageable", dst_kind="device")
    given.copy("HtoD", 10, 11, size_bytes=100, src_kind="pinned", dst_kind="device")
    given.copy("HtoD", 20, 21, size_bytes=100)
    given.copy("DtoD", 30, 31, size_bytes=100, src_kind="device", dst_kind="device")
    found = section(given.open(tmp_path), "copies/pageable")
    assert pick(found, "direction", "calls", "pageable", "bytes_pct", "time_pct") == [("HtoD", 2, 1, 75.0, 75.0)]


def test_managed_memory_is_neither_pageable_nor_pinned(tmp_path: Path) -> None:
    given = Given()
    given.copy("HtoD", 0, 3, size_bytes=300, src_kind="pageable", dst_kind="device")
    given.copy("HtoD", 10, 11, size_bytes=100, src_kind="managed", dst_kind="device")
    # ROCm's Kineto says no more than the direction.
    given.copy("HtoD", 20, 21, size_bytes=100, src_kind="host", dst_kind="device")
    found = section(given.open(tmp_path), "copies/pageable")
    assert pick(found, "calls", "pageable", "pageable_bytes_per_s", "pinned_bytes_per_s") == [(2, 1, 1e8, None)]


def test_a_copy_recurs_if_every_counted_step_has_it(tmp_path: Path) -> None:
    given = Given()
    for step in range(3):
        at = 100 * step
        given.span("step", str(step), at, at + 100)
        given.copy("HtoD", at + 20, at + 30, launched=at + 10, size_bytes=64)
        if step:
            given.copy("HtoD", at + 40, at + 50, launched=at + 30, size_bytes=128)
    found = section(given.open(tmp_path), "copies/repeated")
    assert pick(found, "size_bytes", "steps", "calls", "step_ns", "step_pct") == [(64, 3, 1.0, 10_000.0, 10.0)]


def test_a_process_without_steps_does_not_change_a_step_s_share(tmp_path: Path) -> None:
    given = Given(0)
    for at in (0, 100):
        given.span("step", str(at), at, at + 100)
        given.copy("HtoD", at + 20, at + 30, launched=at + 10, size_bytes=64)
    write(tmp_path, given, Given(1))
    with connected(tmp_path) as connection:
        assert pick(section(connection, "copies/repeated"), "step_ns", "step_pct") == [(10_000.0, 10.0)]


def test_throughput_is_of_the_copies_that_record_a_size(tmp_path: Path) -> None:
    given = Given()
    for kind in ("pageable", "pinned"):
        given.copy("HtoD", 0, 10, size_bytes=1000, src_kind=kind, dst_kind="device")
        given.copy("HtoD", 20, 30, src_kind=kind, dst_kind="device")
    with given.open(tmp_path) as connection:
        found = section(connection, "copies/pageable")
        assert pick(found, "pageable", "pageable_bytes_per_s", "pinned_bytes_per_s") == [(2, 1e8, 1e8)]
        assert {row["throughput_bytes_per_s"] for row in section(connection, "copies/summary")} == {1e8}
