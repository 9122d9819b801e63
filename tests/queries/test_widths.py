"""Every report at 80 columns: nothing is wider, no table turned into one value per line, one unit of time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cases import first
from rich.cells import cell_len

from traceview.analysis import findings, reports
from traceview.analysis.model import Report
from traceview.render import markdown, table

ROOT = Path(__file__).resolve().parent.parent.parent
SAMPLES = (
    "samples/kineto/torch-2.13.0-alexnet-cpu.json.gz",
    "samples/xplane/jax-0.10.2-lenet-cpu.xplane.pb.gz",
    "samples/theano_profile/theano-1.0.5-lenet-cpu.txt.gz",
    "../shared/traces/kineto/a100-convnet-train-nccl.json.gz",
)
TIME = re.compile(r"\[(ns|us|ms|s)\]")


@pytest.fixture(scope="module", params=first(1, SAMPLES), ids=lambda path: Path(path).name)
def done(request: pytest.FixtureRequest, captures) -> list[Report]:  # type: ignore[no-untyped-def]
    """Every report as people are shown it."""
    path = (ROOT / request.param).resolve()
    if "shared" in request.param:
        path = request.getfixturevalue("shared") / "traces" / "kineto" / path.name
    connection = captures.open(path)
    return [reports.shown(reports.run(connection, name, best=findings.best), 30) for name in reports.names()]


@pytest.mark.long
def test_at_80_columns(done: list[Report]) -> None:
    for report in done:
        for asked in (report, reports.with_full_names(report)):
            text = table.render(asked, 80, False)
            assert "row 1" not in text, report.name
            assert not [line for line in text.splitlines() if cell_len(line) > 80], report.name


@pytest.mark.slow
def test_times_of_a_table_have_one_unit(done: list[Report]) -> None:
    with_times = 0
    for report in done:
        tables = re.split(r"(?m)^### ", markdown.render(report).replace("\\", ""))
        for text in tables[1:]:
            header = next((line for line in text.splitlines() if line.startswith("| ")), "")
            units = set(TIME.findall(header))
            assert len(units) <= 1, (report.name, header)
            with_times += len(units)
    assert with_times > 2, "a log of layers has three such tables"


@pytest.mark.slow
def test_counts_are_whole_or_said_to_be_averages(done: list[Report]) -> None:
    """A column without a unit that people take for a count: calls, gaps, copies."""
    n_counts = 0
    for report in done:
        for section in report.sections:
            for at, column in enumerate(section.columns):
                values = [row[at] for row in section.rows if isinstance(row[at], int | float)]
                n_counts += column.name.startswith(COUNTS) and bool(values)
                if column.name.startswith(COUNTS) and any(value != int(value) for value in values):
                    look = section.look
                    heading = look.fractions.get(column.name) or look.headings.get(column.name, "")
                    assert "/step" in heading, (report.name, section.name, column.name)
    assert n_counts > 3, "a log of layers has four such columns"


COUNTS = (
    "calls",
    "gaps",
    "tiny",
    "unsized",
    "launches",
    "steps",
    "used",
    "copies",
    "kernels",
    "backward_calls",
    "dgrad",
)
