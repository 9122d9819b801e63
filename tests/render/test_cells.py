"""Columns of a section as people see them."""

from __future__ import annotations

from traceview.analysis.model import Column, Look, Section
from traceview.render import cells


def section(names: list[str], *rows: tuple[object, ...], look: Look | None = None) -> Section:
    columns = tuple(Column(name, "", "") for name in names)
    return Section("s", "S", "", columns, rows, None, "", look=look or Look())


def test_units_do_not_depend_on_what_a_limit_leaves_out() -> None:
    rows = [("a", 43_009_000, 175_000), *(("b", 2_000 + n, 900 + n) for n in range(9))]
    whole = section(["name", "total_ns", "main_ns"], *rows)
    short = Section("s", "S", "", whole.columns, tuple(rows[:1]), None, "", unseen=tuple(rows[1:]))
    headers = [field.header for field in cells.fields(whole)]
    assert headers == [field.header for field in cells.fields(short)] == ["name", "total [us]", "main [us]"]


def test_headings_say_what_a_share_is_of() -> None:
    look = Look(headings={"share_pct": "of step"}, fractions={"calls": "calls/step"})
    (share, whole) = cells.fields(section(["share_pct", "calls"], (50.0, 3.0), look=look))
    assert (share.header, whole.header, whole.cells) == ("of step [%]", "calls", ("3",))
    (_, part) = cells.fields(section(["share_pct", "calls"], (50.0, 3.0), (1.0, 1 / 3), look=look))
    assert (part.header, part.cells) == ("calls/step", ("3.0", "0.3"))


def test_names_shortened_to_the_same_are_numbered() -> None:
    field = cells.Field("name", ("name",), ("k" * 40 + "x" + "k" * 40, "k" * 40 + "y" + "k" * 40, "z"), False)
    assert field.fitted(20) == ["kkkkkkk...kkkkkkk #1", "kkkkkkk...kkkkkkk #2", "z"]


def test_names_in_one_cell_are_shortened_one_by_one() -> None:
    names = "void a::first<int>(int); void b::second<int>(int)"
    (field,) = cells.fields(section(["evidence"], (names,), look=Look(kernels=("evidence",))))
    assert field.cells == ("first; second",)
    assert field.fitted(5) == ["first\ns...d"]


def test_what_says_nothing_is_left_out_first() -> None:
    found = cells.fields(section(["name", "rank", "layer", "n"], ("a" * 20, 0, None, 5), ("b" * 20, 0, None, 6)))
    _, _, left_out = cells.fit(found, 34, Look())
    assert [field.name for field in left_out] == ["layer"]
    _, _, left_out = cells.fit(found, 28, Look())
    assert [field.name for field in left_out] == ["rank", "layer"]


def test_headers_fold_to_three_lines_at_most() -> None:
    field = cells.Field("x", ("of", "the", "a", "b", "time", "[%]"), ("1",), True)
    assert field.width(is_folded=True) == 8
    assert field.folded(8) == ["of the a", "b time", "[%]"]


def test_paths_are_cut_between_names() -> None:
    path = "encoder.blocks.11.attention.projection"
    assert cells.shorten_path(path, 40) == path
    assert cells.shorten_path(path, 30) == "encoder.blocks....projection"
    assert cells.shorten_path(path, 22) == "encoder....projection"
    assert cells.shorten_path(path, 13) == "...projection"
    assert cells.shorten_path("net/v1.2/conv", 11) == "net/...conv"
    # A last name that does not fit is cut as any other text.
    assert cells.shorten_path(path, 10) == cells.shorten(path, 10)
