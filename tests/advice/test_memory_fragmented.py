"""Reserved memory that no tensor uses when most is allocated: on both sides of both thresholds."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "memory_fragmented"


def steps(allocated_bytes: float, reserved_bytes: float) -> Given:
    given = training()
    given.rows["devices"][0]["memory_bytes"] = 40_000_000_000
    # Before the peak much is reserved and not yet used, which is no fragmentation.
    for at, allocated, reserved in ((10, 1e9, reserved_bytes), (20, allocated_bytes, reserved_bytes)):
        for name, value in (("allocated_bytes", allocated), ("reserved_bytes", reserved)):
            given.add("counters", name=name, device=0, value=value, start_ns=1000 * at)
    return given


def test_much_that_could_not_be_used_is_found(tmp_path: Path) -> None:
    found = answer(RULE, steps(20e9, 30e9), tmp_path)
    assert (found.status, found.saving_ns, found.place) == ("found", None, "Device 0")
    assert found.problem == "When most was allocated, 10.00 GB of 30.00 GB reserved were in no use (33.3 %)."


@pytest.mark.parametrize(("allocated_bytes", "reserved_bytes"), [(23e9, 30e9), (10e9, 19e9)])
def test_little_of_it_or_of_the_device_is_not(tmp_path: Path, allocated_bytes: float, reserved_bytes: float) -> None:
    assert answer(RULE, steps(allocated_bytes, reserved_bytes), tmp_path).status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, Given(), tmp_path).status == "cannot tell"
