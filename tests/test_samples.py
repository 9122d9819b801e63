"""Every sample of our own, three ways: rows as a snapshot, one reader by content, every report.

Set TRACEVIEW_UPDATE_SNAPSHOTS=1 to write the snapshots anew after a change that was meant.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from asked import ONE
from public_traces import SAMPLES

from traceview.analysis import findings, reports
from traceview.analysis.model import Report
from traceview.decode.files import peek
from traceview.readers import READERS
from traceview.render import FORMATS, markdown, renderer
from traceview.store import graph, views
from traceview.tables import TABLES

ROOT = Path(__file__).resolve().parent.parent
SNAPSHOTS = ROOT / "tests" / "snapshots"


def snapshot(connection: Any) -> dict[str, Any]:
    """Rows per table, and the first two of each as text."""
    found: dict[str, Any] = {}
    for table in TABLES:
        rows = connection.sql(f"SELECT * FROM raw.{table.name} ORDER BY ALL LIMIT 2").to_arrow_table().to_pylist()
        count = connection.execute(f"SELECT count(*) FROM raw.{table.name}").fetchall()[0][0]
        if count:
            found[table.name] = {"rows": count, "first": [_text(row) for row in rows]}
    return found


def named(sample: Path) -> str:
    """Return the name of the test of a sample."""
    return f"{sample.parent.name}/{sample.name}"


def _text(row: dict[str, Any]) -> dict[str, str]:
    return {name: str(value)[:200] for name, value in row.items() if value is not None}


@pytest.mark.parametrize("sample", SAMPLES, ids=named)
def test_rows_are_as_they_were(sample: Path, captures: Any) -> None:
    with views.connect(captures.folder_of(sample), ONE) as connection:
        found = snapshot(connection)
    golden = SNAPSHOTS / f"{sample.parent.name}-{sample.name}.json"
    if os.environ.get("TRACEVIEW_UPDATE_SNAPSHOTS"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    assert found == json.loads(golden.read_text(encoding="utf-8"))


FIRST = [*{path.parent.name: path for path in reversed(SAMPLES)}.values()]
"""One sample of each format."""


@pytest.mark.parametrize(
    "sample", [pytest.param(path, marks=() if path in FIRST else pytest.mark.long) for path in SAMPLES], ids=named
)
def test_a_view_has_no_row_where_its_header_says_so(sample: Path, captures: Any) -> None:
    with views.connect(captures.folder_of(sample), ONE) as connection:

        def has_rows(source: str) -> bool:
            return bool(connection.execute(f"FROM ({source}) LIMIT 1").fetchall())

        for view in graph.names():
            without = graph.empty_without(view)
            if without and not any(has_rows(f"FROM {name}") for name in without):
                # Its query, and not the table that was made in its place.
                assert not has_rows(f"{graph.text(view)}\n"), view


@pytest.mark.parametrize("sample", SAMPLES, ids=named)
def test_exactly_one_reader_knows_it(sample: Path, tmp_path: Path) -> None:
    for file in [sample] if sample.is_file() else sorted(sample.iterdir()):
        unknown = tmp_path / "unknown"
        unknown.write_bytes(file.read_bytes())
        claims = [reader.NAME for reader in READERS if reader.sniff(peek(unknown))]
        # The reader of any Chrome trace is asked when no other knows the file.
        expected = "onednn" if ".onednn." in file.name else sample.parent.name
        assert [name for name in claims if name != "chrome"] == [expected]


OTHERS = {"xplane": 0, "onnxruntime": 1, "theano_profile": 2}
THIRDS = [
    pytest.param(
        path,
        third,
        id=f"{path.parent.name}/{path.name}-{third}",
        marks=()
        if path in FIRST and (path.parent.name == "kineto" or OTHERS.get(path.parent.name) == third)
        else pytest.mark.long,
    )
    for path in SAMPLES
    for third in range(3)
]
"""`make test` renders every report of one sample, and a third of them of three others, one of them a log."""


@pytest.mark.parametrize(("sample", "third"), THIRDS)
def test_every_report_renders(sample: Path, third: int, captures: Any) -> None:
    """Each section is there with its rows, or with the sentence in place of them."""
    connection = captures.open(sample)
    for name in reports.names()[third::3]:
        report = reports.run(connection, name, best=findings.best)
        for form in FORMATS:
            CHECKS[form](renderer(form).render(report), report)


@pytest.mark.parametrize(
    "sample", [pytest.param(path, marks=() if path in FIRST else pytest.mark.long) for path in SAMPLES], ids=named
)
def test_a_finding_is_read_in_twelve_lines(sample: Path, captures: Any) -> None:
    """On a terminal of 100 columns, its title among them."""
    answers = findings.run(captures.open(sample))
    text = renderer("table").render(findings.for_people(answers), width=100)
    for found in (each for each in answers.findings if each.status == "found"):
        block = text.split(f"\n{found.title}\n")[1].split("\n\n")[0].splitlines()
        assert block[0].startswith("Change: ") and len(block) <= 11, found.rule


def check_table(text: str, report: Report) -> None:
    """Between the title and what the numbers rest on there is something: rows, or a sentence in place of them."""
    words = " ".join(text.split())
    assert words.startswith(report.title), report.name
    for line in (report.title, report.doc, *report.footer):
        words = words.replace(" ".join(line.split()), "", 1)
    assert len(words.split()) > 3, (report.name, words)


def check_json(text: str, report: Report) -> None:
    found = [(section["name"], len(section["rows"]), section["note"]) for section in json.loads(text)["sections"]]
    assert found == [(section.name, len(section.rows), section.note) for section in report.sections]


def check_csv(text: str, report: Report) -> None:
    lines = [line for line in text.splitlines() if line and not line.startswith("# section: ")]
    assert len(lines) == sum(1 + len(section.rows) for section in report.sections), report.name


def check_markdown(text: str, report: Report) -> None:
    head, *parts = [part for part in text.split("\n\n") if part.strip()]
    assert head == f"## {markdown.escape(report.title)}" and len(parts) > bool(report.doc) + bool(report.footer)
    for table in (part.splitlines() for part in parts if part.startswith("| ")):
        assert len(table) > 2 and table[1].startswith("| --"), (report.name, table)


CHECKS = {"table": check_table, "json": check_json, "csv": check_csv, "markdown": check_markdown}
