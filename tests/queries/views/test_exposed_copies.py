"""Copies that nothing hides are a part of the active time of their own; what runs beside work is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("kernels", "copies", "exposed_us", "copy_us"),
    [
        ([(0, 100)], [(100, 900)], 800, 800),
        ([(0, 1000)], [(100, 900)], 0, 800),
        ([(0, 100), (400, 600)], [(50, 450), (300, 500)], 300, 450),
    ],
)
def test_what_only_copies_fill(
    tmp_path: Path, kernels: list[tuple[int, int]], copies: list[tuple[int, int]], exposed_us: int, copy_us: int
) -> None:
    given = Given()
    for start, end in kernels:
        given.kernel("k", start, end, launched=0)
    for start, end in copies:
        given.copy("HtoD", start, end, stream=9)
    with given.open(tmp_path) as connection:
        found = connection.execute("SELECT exposed_ns, copy_ns FROM exposed_copies").fetchall()
        (active, exposed) = connection.execute("SELECT active_ns, exposed_copy_ns FROM account").fetchall()[0]
    assert found == [(exposed_us * 1000, copy_us * 1000)]
    assert exposed == exposed_us * 1000 <= active
