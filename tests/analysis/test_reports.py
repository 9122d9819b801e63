"""Reports are folders: sections in order, notes for what cannot be answered, parameters by type, a footer."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import duckdb
import pytest
from given import Given

from traceview.analysis import findings, reports
from traceview.analysis.model import Column, Look, Report, Section
from traceview.errors import UsageError

SECTION = """-- title = "Kernels"
-- doc = "Of all of them."
-- [params]
-- least = {{ type = "BIGINT", doc = "only from this duration on", default = 0 }}
-- step = {{ type = "BIGINT", doc = "only this step" }}
-- [columns]
-- name = "its name"
SELECT name, dur_ns FROM kernels WHERE dur_ns >= $least AND ($step IS NULL OR step = $step) ORDER BY {order}
"""

EMPTY = """-- title = "Nothing"
-- cannot = "There is nothing in this trace."
SELECT name FROM kernels WHERE false
"""


@pytest.fixture
def queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of queries with the reports `demo` and `overview`."""
    for name in ("demo", "overview"):
        folder = tmp_path / "queries" / name
        folder.mkdir(parents=True)
        (folder / "report.toml").write_text(f'title = "{name}"\ndoc = "Of it."\nsections = ["up", "down", "none"]\n')
        (folder / "up.sql").write_text(SECTION.format(order="dur_ns"))
        (folder / "down.sql").write_text(SECTION.format(order="dur_ns DESC"))
        (folder / "none.sql").write_text(EMPTY)
    for name, rows in (("speaks_of_steps", "SELECT 1"), ("footer", EMPTY), ("experiment", EMPTY)):
        (tmp_path / "queries" / f"{name}.sql").write_text(rows)
    (tmp_path / "queries" / "views").mkdir()
    (tmp_path / "queries" / "views" / "kernels.sql").write_text("-- title = 'k'\nSELECT * FROM raw.kernels")
    (tmp_path / "queries" / "views" / "busy.sql").write_text("-- title = 'b'\n-- FROM idle\nSELECT * FROM kernels")
    monkeypatch.setattr(reports, "content", lambda folder: tmp_path / folder)
    return tmp_path / "queries"


@pytest.fixture
def connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE kernels(name VARCHAR, dur_ns BIGINT, step BIGINT)")
    connection.execute("INSERT INTO kernels VALUES ('a', 10, 1), ('b', 20, 2), ('c', 30, 2)")
    return connection


def test_names_start_with_the_overview(queries: Path) -> None:
    assert reports.names() == ["overview", "demo"]


def test_sections_in_order_with_columns_and_notes(queries: Path, connection: duckdb.DuckDBPyConnection) -> None:
    report = reports.run(connection, "demo")
    assert (report.name, report.title, report.doc, report.footer) == ("demo", "demo", "Of it.", ())
    up, down, none = report.sections
    assert up.rows == (("a", 10), ("b", 20), ("c", 30))
    assert up.columns == (Column("name", "VARCHAR", "its name"), Column("dur_ns", "BIGINT", ""))
    assert (up.title, up.doc, up.note) == ("Kernels", "Of all of them.", None)
    assert down.rows == up.rows[::-1]
    assert (none.rows, none.note) == ((), "There is nothing in this trace.")


def test_parameters_are_texts_of_a_type(queries: Path, connection: duckdb.DuckDBPyConnection) -> None:
    report = reports.run(connection, "demo", {"least": "15", "step": "2", "other": "x"})
    assert report.sections[0].rows == (("b", 20), ("c", 30))
    assert reports.run(connection, "demo", {"least": "99"}).sections[0].note == reports.NO_ROWS
    with pytest.raises(UsageError, match="least = 'much' is not a whole number: only from this duration on"):
        reports.run(connection, "demo", {"least": "much"})


def test_a_parameter_is_a_value_and_never_sql(queries: Path, connection: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(UsageError, match="is not a whole number"):
        reports.run(connection, "demo", {"least": "0; DROP TABLE kernels"})
    assert connection.execute("SELECT count(*) FROM kernels").fetchall() == [(3,)]


def test_the_footer_is_a_query(queries: Path, connection: duckdb.DuckDBPyConnection) -> None:
    (queries / "footer.sql").write_text("-- title = 'f'\nSELECT 'kernels: ' || count(*) FROM kernels")
    assert reports.run(connection, "demo").footer == ("kernels: 3",)


def test_an_unknown_report_names_what_there_is(queries: Path) -> None:
    with pytest.raises(UsageError, match=r"no report 'demi'; did you mean demo\? `traceview list reports` names"):
        reports.load("demi")
    with pytest.raises(UsageError, match=r"no report '\.\./demo'"):
        reports.load("../demo")


def test_cut_says_how_many_are_left_out(queries: Path, connection: duckdb.DuckDBPyConnection) -> None:
    report = reports.run(connection, "demo")
    cut = partial(reports.cut, by=partial(reports.cut_section, with_rest=False))
    short = cut(report, 2)
    assert short.sections[0].rows == (("a", 10), ("b", 20))
    assert short.sections[0].note == "2 of 3 rows; 1 left out (--limit 0 shows all)."
    assert short.sections[2] == report.sections[2]
    assert cut(report, 0) == cut(report, None) == cut(report, 3) == report


def test_the_others_have_a_sum_where_any_of_them_has_a_value() -> None:
    """None of a log's averages has a step to be a share of: together they are not 0 % of it."""
    columns = tuple(Column(name, "BIGINT", "") for name in ("what", "n", "pct"))
    rows = (("a", 1, None), ("b", 2, None), ("c", 3, None))
    found = reports.cut_section(Section("s", "", "", columns, rows, None, "", look=Look(rest=("n", "pct"))), 1)
    assert found.rows == (("a", 1, None), ("(2 others)", 5, None))


@pytest.mark.slow
def test_without_steps_texts_speak_of_the_recording(tmp_path: Path) -> None:
    words = []
    for has_steps in (True, False):
        given = Given()
        if has_steps:
            given.span("step", "step#1", 0, 1000)
        given.kernel("ampere_sgemm_128x64_nn", 10, 500, launched=5)
        with given.open(tmp_path / str(has_steps)) as found:
            overview = reports.run(found, "overview", best=findings.best)
        part = next(section for section in overview.sections if section.name == "categories")
        meanings = {column.name: column.doc for column in part.columns}
        words.append((part.doc.split(",")[0], meanings["step_pct"].split(";")[0]))
    assert words == [
        ("Device time per step and rank", "of step time"),
        ("Device time over the whole recording", "of the recording"),
    ]


COLUMNS = (Column("rank", "INTEGER", ""), Column("found_by", "VARCHAR", ""), Column("mean_ns", "BIGINT", ""))


def shown(n_ranks: int) -> Section:
    rows = tuple((rank, "marked", None if rank == 3 else 1000 - 7 * ((rank * 5) % n_ranks)) for rank in range(n_ranks))
    section = Section("summary", "", "", COLUMNS, rows, None, "", look=Look(worst="mean_ns"))
    return reports.shown(Report("steps", "", "", (section,), ()), 30).sections[0]


def test_no_text_of_a_report_breaks_its_line() -> None:
    assert not [name for name in reports.names() if "\n" in reports.load(name).doc + reports.load(name).title]


def test_sixteen_ranks_are_listed() -> None:
    assert len(shown(16).rows) == 16 and shown(16).note is None


def test_more_are_summed_up() -> None:
    found = shown(21)
    assert found.rows[:3] == (
        ("minimum", None, 860),
        ("median", None, 934),
        ("maximum", None, 1000),
    )
    # rank * 5 modulo 21 is 0, 1, 2, 3, 4 for these.
    assert [row[0] for row in found.rows[3:]] == [0, 17, 13, 9, 5]
    assert [row[2] for row in found.rows[3:]] == [1000, 993, 986, 979, 972]
    assert found.note and found.note.startswith("21 ranks:")


def test_several_rows_of_a_rank_are_left_as_they_are() -> None:
    rows = tuple((rank // 2, "marked", rank) for rank in range(40))
    section = Section("summary", "", "", COLUMNS, rows, None, "", look=Look(worst="mean_ns"))
    assert len(reports.shown(Report("steps", "", "", (section,), ()), 50).sections[0].rows) == 40
