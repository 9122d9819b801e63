"""Of many ranks a table shows minimum, median, maximum and the worst few."""

from __future__ import annotations

from traceview.analysis import reports
from traceview.analysis.model import Column, Look, Report, Section

COLUMNS = (Column("rank", "INTEGER", ""), Column("found_by", "VARCHAR", ""), Column("mean_ns", "BIGINT", ""))


def shown(n_ranks: int) -> Section:
    rows = tuple((rank, "marked", None if rank == 3 else 1000 - 7 * ((rank * 5) % n_ranks)) for rank in range(n_ranks))
    section = Section("summary", "", "", COLUMNS, rows, None, "", look=Look(worst="mean_ns"))
    return reports.shown(Report("steps", "", "", (section,), ()), 30).sections[0]


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
