"""Rows of experiments: what is kept, and what a line that no program of ours wrote leaves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import traceview
from traceview.decode.files import peek
from traceview.readers import detect

HEAD = {"traceview": "experiment", "kind": "tune", "framework": "torch", "framework_version": "2.13.0"}
RUN = {"phase": "screening", "pair": 1, "place": 1, "side": "base", "step_ns": 5_000_000, "loss": 2.25}


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


LOG = lines(HEAD, {"table": "tune_runs", "row": RUN}, {"table": "tune_options", "row": {"name": "x", "in_best": True}})


def opened(folder: Path, text: str) -> Any:
    file = folder / "rows.jsonl"
    file.write_text(text, encoding="utf-8")
    assert detect(peek(file)).NAME == "experiment"
    return traceview.open(file)


def test_rows_are_kept_in_their_tables(tmp_path: Path) -> None:
    with opened(tmp_path, LOG) as trace:
        found = trace.execute("SELECT phase, pair, side, step_ns, loss, checksum FROM raw.tune_runs").fetchall()
        assert found == [("screening", 1, "base", 5_000_000, 2.25, None)]
        assert trace.execute("SELECT rank, name, in_best FROM raw.tune_options").fetchall() == [(0, "x", True)]
        assert trace.execute("SELECT tool, framework, n_events, n_kept FROM raw.captures").fetchall() == [
            ("traceview tune", "torch", 2, 2)
        ]


def test_what_is_not_a_row_is_counted_and_left_out(tmp_path: Path) -> None:
    strange = [
        {"table": "kernels", "row": {"name": "planted"}},
        {"table": "tune_runs", "row": [1]},
        {"table": "tune_runs", "row": {"pair": "one", "step_ns": 1 << 70, "loss": True, "planted": 1, "place": 2}},
        ["no"],
    ]
    with opened(tmp_path, LOG + lines(*strange) + '{"table": "tune_runs", "row": {"pa') as trace:
        found = trace.execute("SELECT pair, step_ns, loss, place FROM raw.tune_runs ORDER BY ALL").fetchall()
        assert found == [(1, 5_000_000, 2.25, 1), (None, None, None, 2)]
        assert trace.execute("SELECT count(*) FROM raw.kernels").fetchall() == [(0,)]
        query = "SELECT p.kind, p.n FROM raw.captures, unnest(problems) AS x(p) ORDER BY ALL"
        assert trace.execute(query).fetchall() == [
            ("columns that the table does not have", 1),
            ("lines that are not a row of a table of experiments", 4),
            ("the last line does not end: the file may be cut off there", 1),
            ("values that their column cannot hold, taken as not recorded", 3),
        ]
        assert trace.execute("SELECT n_events, n_kept, n_dropped FROM raw.captures").fetchall() == [(7, 3, 4)]


def test_half_a_surrogate_pair_is_left_out_of_names_values_and_the_head(tmp_path: Path) -> None:
    head = {**HEAD, "framework": "to\ud800rch", "version": "\udfff"}
    rows = lines(
        head, {"table": "tune_runs", "row": {**RUN, "pla\ud800nted": 1, "pair": "\ud801", "reason": "a\udc00"}}
    )
    with opened(tmp_path, rows) as trace:
        assert trace.execute("SELECT reason FROM raw.tune_runs").fetchall() == [("a?",)]
        query = "SELECT framework, p.examples FROM raw.captures, unnest(problems) AS x(p) ORDER BY ALL"
        assert trace.execute(query).fetchall() == [
            ("to?rch", ["pair: '\\ud801'"]),
            ("to?rch", ["pla?nted"]),
        ]
