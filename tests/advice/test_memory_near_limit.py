"""Memory against what the device has: on both sides of nine tenths."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "memory_near_limit"


def steps(peak_bytes: float, free_us: float = 0) -> Given:
    given = training()
    given.rows["devices"][0]["memory_bytes"] = 40_000_000_000
    for start in (0, 1000, 2000):
        given.kernel("ampere_sgemm_128x64_nn", start + 500, start + 900, launched=start + 1)
        given.add("counters", name="reserved_bytes", device=0, value=peak_bytes, start_ns=1000 * (start + 50))
        if free_us:
            given.call("cudaFree", start + 10, start + 10 + free_us)
    return given


def test_above_the_limit_it_is_found_without_a_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(36.1e9), tmp_path)
    assert (found.status, found.saving_ns, found.saving_pct) == ("found", None, None)
    assert found.problem == "reserved_bytes reach 90.2 % of the device's 40.00 GB."


@pytest.mark.long
def test_calls_of_the_allocator_are_the_bound(tmp_path: Path) -> None:
    assert answer(RULE, steps(36.1e9, free_us=30), tmp_path).saving_ns == 30_000


def test_below_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(35.9e9), tmp_path).status == "not found"


@pytest.mark.parametrize("operator", ["vllm::unified_attention", "_C_cache_ops::reshape_and_cache_flash"])
def test_an_inference_engine_fills_the_memory_by_design(operator: str, tmp_path: Path) -> None:
    """Such operators beside gradients, as where a policy is trained with what it generates, are of no server."""
    for trains, status in ((False, "cannot tell"), (True, "found")):
        given = steps(36.1e9)
        given.op(operator, 10, 20)
        if trains:
            given.op("MulBackward0", 30, 35)
            given.rows["ops"][-1]["is_backward"] = True
        assert answer(RULE, given, tmp_path / status).status == status


@pytest.mark.long
def test_of_devices_of_several_sizes_the_one_nearest_to_its_limit_is_named(tmp_path: Path) -> None:
    given = steps(38e9)
    given.device("NVIDIA A100-SXM4-80GB", device=1, memory_bytes=80_000_000_000)
    given.add("counters", name="reserved_bytes", device=1, value=73e9, start_ns=50_000)
    found = answer(RULE, given, tmp_path)
    assert (found.problem, found.place) == ("reserved_bytes reach 95.0 % of the device's 40.00 GB.", "Device 0")


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == (
        "cannot tell",
        "counters of the memory in use, or the device's memory, are not recorded (PyTorch: profile_memory=True).",
    )
