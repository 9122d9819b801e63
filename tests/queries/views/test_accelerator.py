"""The view accelerator: what devices are called."""

from __future__ import annotations

import pytest
from given import Given, rows


@pytest.mark.parametrize(("kinds", "expected"), [((), "gpu"), (("gpu", "cpu"), "gpu"), (("cpu", "tpu"), "tpu")])
def test_accelerator(tmp_path, kinds: tuple[str, ...], expected: str) -> None:  # type: ignore[no-untyped-def]
    given = Given()
    for number, kind in enumerate(kinds):
        given.add("devices", device=number, kind=kind)
    assert rows(given.open(tmp_path), "FROM accelerator") == [(expected,)]
