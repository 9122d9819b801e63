"""Marks of steps: which of them hold nothing to judge."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("launched", "empty"), [(10, []), (None, ["step#0"])])
def test_a_mark_before_the_first_work_is_a_step_where_it_launched_some(
    tmp_path: Path, launched: float | None, empty: list[str]
) -> None:
    """A host that is ahead has ended its first step when the device begins; the first mark of a profiler is idle."""
    given = Given()
    for number, start in enumerate((0, 100, 200)):
        given.span("step", f"step#{number}", start, start + 100)
    if launched is not None:
        given.kernel("ampere_sgemm_128x64_nn", 105, 150, launched=launched)
    for start in (110, 210):
        given.kernel("ampere_sgemm_128x64_nn", start + 50, start + 80, launched=start)
    with given.open(tmp_path) as connection:
        found = connection.sql("SELECT name, is_empty FROM marked_steps ORDER BY start_ns").fetchall()
    assert [name for name, _ in found] == ["step#0", "step#1", "step#2"]
    assert [name for name, is_empty in found if is_empty] == empty
