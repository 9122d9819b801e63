"""Collectives below a megabyte: how many, and how much of them is exposed."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "small_buckets"


def steps(small: int, each_us: float = 20) -> Given:
    given = training()
    for start in (0, 1000, 2000):
        given.op("aten::mm", start + 1, start + 2)
        # 8 MB in 80 us: 0.1 MB per us.
        given.collective("all_reduce", start + 5, start + 85, kind="all_reduce", size_bytes=8_000_000)
        for number in range(small):
            at = start + 100 + 40 * number
            given.collective("all_reduce", at, at + each_us, kind="all_reduce", size_bytes=100_000)
    return given


@pytest.mark.slow
def test_the_bound_leaves_them_the_time_of_their_bytes(tmp_path: Path) -> None:
    found = answer(RULE, steps(11), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 11 * 19_000)
    assert found.problem == "11.0 collectives move 1100.0 kB in all and cost 0.220 ms of exposed time."


@pytest.mark.slow
def test_few_of_them_are_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(10), tmp_path).status == "not found"


@pytest.mark.long
def test_short_ones_are_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(11, each_us=1.9), tmp_path).status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace holds no communication.")
