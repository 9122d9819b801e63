"""Fields of hostile files are named, and never reach what uses them."""

from __future__ import annotations

from typing import Any

import pytest

from traceview.errors import InputError
from traceview.experiments.records import checked

KINDS = {
    "tried": tuple[str, ...], "budget_s": float, "environment": dict[str, str], "copies": bool, "steps": int | None,
}  # fmt: skip


def test_what_fits_is_returned_with_lists_as_tuples() -> None:
    told = {"tried": ["a"], "budget_s": 90, "environment": {"A": "1"}, "copies": True, "steps": None}
    assert checked(told, KINDS, "x", is_whole=True) == {**told, "tried": ("a",)}
    assert checked({"more": 1}, KINDS, "x") == {}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tried", 5), ("tried", "abc"), ("tried", [1]), ("tried", None), ("tried", {"a": 1}), ("tried", ["\0"]),
        ("budget_s", "abc"), ("budget_s", 0), ("budget_s", -1), ("budget_s", float("nan")), ("budget_s", float("inf")),
        ("budget_s", True), ("budget_s", 10**400), ("environment", [1, 2]), ("environment", {"A": 1}),
        ("environment", {"A": "\0"}), ("environment", {"\ud800": "x"}), ("environment", None), ("copies", 1),
        ("copies", "yes"), ("steps", -1), ("steps", 1.5), ("steps", 10**20), ("steps", False), ("steps", "3"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"here: {name} is .*, not ") as refused:
        checked({name: value}, KINDS, "here")
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("told", [[], "x", 5, None, True])
def test_what_is_not_an_object_is_refused(told: Any) -> None:
    with pytest.raises(InputError, match="not an object"):
        checked(told, KINDS, "here")


def test_a_field_that_there_is_not_is_refused_where_all_are_known() -> None:
    with pytest.raises(InputError, match="there is no field 'folder'"):
        checked({"folder": "/x"}, KINDS, "here", is_whole=True)
