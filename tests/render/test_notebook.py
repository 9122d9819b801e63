"""An answer in Python: a table as text, HTML that shows text and never obeys it, data frames of exact values."""

from __future__ import annotations

import builtins

import pytest

from traceview.analysis.model import Column, Look, Report, Section
from traceview.errors import UsageError
from traceview.render import table
from traceview.render.notebook import ROWS, Answer

EVIL = "<script>alert(1)</script>\x1b[2J$x$"
COLUMNS = (Column("name", "VARCHAR", 'its "name"'), Column("dur_ns", "BIGINT", "how long"))


def section(name: str, *rows: tuple[object, ...], note: str | None = None) -> Section:
    return Section(name, f"Title of {name}", "Of all.", COLUMNS, rows, note, "SELECT 1")


def answer(*sections: Section) -> Answer:
    return Answer(Report("demo", "Demo", "What it is.", sections, ("It rests on this.",)))


def test_html_shows_what_acts_elsewhere() -> None:
    text = answer(
        section("one", (EVIL, 2_000_000), (None, None)), section("none", note="There is <none>.")
    )._repr_html_()
    assert (
        "<script" not in text and "\x1b" not in text and text.startswith('<div class="tex2jax_ignore mathjax_ignore">')
    )
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\x1b[2J$x$</td>" in text
    assert '<th style="text-align:left" title="its &#34;name&#34;">name</th>' in text
    assert '<td style="text-align:right">2.000</td>' in text and "dur [ms]" in text
    assert "<em>There is &lt;none&gt;.</em>" in text and "It rests on this." in text


def test_many_rows_are_in_the_data_frame() -> None:
    found = answer(section("one", *((f"k{n}", n) for n in range(100))))
    for shown in (found._repr_html_(), repr(found)):
        assert "to_pandas(&#39;one&#39;) has all 100 rows." in shown.replace("'", "&#39;")
        assert f"k{ROWS - 1}" in shown and f"k{ROWS}" not in shown
    assert len(found.to_pandas()) == len(found.to_arrow()) == 100


def test_sections_by_name() -> None:
    found = answer(section("one", ("a", 1)), section("two", ("b", 2**60), ("c", None)))
    assert (found.sections, list(found), len(found)) == (("one", "two"), ["one", "two"], 2)
    assert found.to_pandas().name.tolist() == ["a"]
    two = found["two"].to_pandas()
    assert two.dur_ns.tolist()[0] == 2**60 and two.dur_ns.isna().tolist() == [False, True]
    assert two.equals(found.to_pandas("two"))
    with pytest.raises(UsageError, match=r"no section 'tow'; did you mean two\? The sections are: one, two\."):
        found.to_pandas("tow")
    assert repr(found["one"]).splitlines()[0] == "" or "Title of one" in repr(found["one"])


def test_a_table_as_text() -> None:
    lines = repr(answer(section("one", (EVIL, 1_500)))).splitlines()
    assert lines[0] == "Demo" and lines[-1] == "It rests on this."
    assert any(line.split() == ["<script>alert(1)</script>\\x1b[2J$x$", "1.500"] for line in lines)


def test_sentences_short_names_and_what_shares_are_of_are_those_of_the_terminal() -> None:
    columns = (Column("step_ns", "BIGINT", ""), Column("name", "VARCHAR", ""), Column("share_pct", "DOUBLE", ""))
    row = (222_368_000, "void a::<b>::kernel<float>(int)", 50.0)
    look = Look(headings={"share_pct": "of step"}, kernels=("name",))
    table = Section("s", "S", "", columns, (row,), None, "", look=look)
    told = Section("t", "T", "", columns, (row,), None, "", look=Look(lines=("Step {step_ns}", "<{share_pct}>")))
    text = Answer(Report("r", "", "", (told, table), ()))._repr_html_()
    assert "<p>Step 222 ms | &lt;50.0 %&gt;</p>" in text
    assert ">kernel</td>" in text and ">of step [%]</th>" in text


def test_a_notebook_shows_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a kernel of Jupyter rich writes into the cell, beside what the answer itself is shown as."""
    kernel = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setattr(builtins, "get_ipython", lambda: kernel, raising=False)
    assert not table._console(80, False).is_jupyter
    assert "Title of one" in repr(answer(section("one", ("k", 2_000_000))))
