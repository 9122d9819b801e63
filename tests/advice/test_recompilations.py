"""Functions that torch.compile compiled again within the steps, by what was noted."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "recompilations"


def compiled(times: int, us: int, load_us: int = 0) -> Given:
    """A function that was compiled before the recording, and again so many times in it; a library that is loaded."""
    given = training(device=None)
    given.origin_unix_ns = 10**18
    given.op("aten::mul", 100, 200, [(8, 8), (8, 8)], ["", ""])
    given.call("cuModuleLoadData", 100, 100 + load_us)
    graph = {"function": "forward", "file": "net.py", "line": 7, "dur_us": us}
    given.about = {
        "compiled": {
            "graphs": [
                {
                    **graph,
                    "id": f"0/{number}",
                    "start_us": 10**15 + 1000 * number - 900,
                    "recompiled": f"self.n == {number - 1}",
                }
                for number in range(times + 1)
            ],
            "breaks": [],
        }
    }
    given.about["compiled"]["graphs"][0]["recompiled"] = None
    return given


def test_compilations_after_the_first_are_found_with_their_guard(tmp_path: Path) -> None:
    found = answer(RULE, compiled(2, 50), tmp_path)
    assert (found.status, found.saving_ns, found.of) == ("found", 100_000, "the recording, once")
    assert (
        found.problem == "Compiled again within the recorded steps: net.py:7 (forward) (2 times), for 0.100 ms in all."
    )
    assert found.place.startswith("Guard that failed: self.n == ")


@pytest.mark.slow
def test_one_compilation_is_not_called_many(tmp_path: Path) -> None:
    """A size that changes costs one by default; the code then takes any size."""
    found = answer(RULE, compiled(1, 100), tmp_path)
    assert (found.status, found.title) == ("found", "Code compiled again within the steps")
    assert "By default the first change of a size costs one, and its code takes any size" in found.why


@pytest.mark.slow
def test_short_ones_and_the_first_are_not(tmp_path: Path) -> None:
    assert answer(RULE, compiled(2, 20), tmp_path / "short").status == "not found"
    assert answer(RULE, compiled(0, 500), tmp_path / "first").status == "not found"


@pytest.mark.slow
def test_beside_other_code_that_is_loaded_longer_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, compiled(2, 50, load_us=201), tmp_path).status == "not found"


def test_without_notes_it_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, training(device=None), tmp_path).status == "cannot tell"
