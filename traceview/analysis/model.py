"""Plain data without behaviour: a report once it has been run, for the renderers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TRACE = "TRACE"
"""Placeholder for a trace name that is long or needs quoting."""
AT_LEAST_PCT = 0.5
"""Smallest saving of a finding, as a share of the step."""


@dataclass(frozen=True)
class Column:
    """A column of a section: its name (the suffix is the unit), DuckDB type and meaning."""

    name: str
    type: str
    doc: str


@dataclass(frozen=True)
class Section:
    """One table of a report. `note` is a sentence in place of rows when the question cannot be answered.

    `bar` names the column that a terminal also draws, `chart` says how a page draws the table; how people are shown the
    rows is in `look`.
    """

    name: str
    title: str
    doc: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str | None
    sql: str
    bar: str | None = None
    chart: Mapping[str, Any] | None = None
    look: Look = field(default_factory=lambda: Look())
    unseen: tuple[tuple[Any, ...], ...] = ()
    """Rows that a limit left out: units do not depend on the limit."""


@dataclass(frozen=True)
class Look:
    """How a section is shown to people; programs get names and values as they are. From the header of its query."""

    headings: Mapping[str, str] = field(default_factory=dict)
    """Names of columns, without their units; a percentage says what it is a share of."""
    fractions: Mapping[str, str] = field(default_factory=dict)
    """Names of counts that are averages, where one of them is not a whole number."""
    leave_out: tuple[str, ...] = ()
    """Columns that a narrow terminal does without, the least valuable first."""
    kernels: tuple[str, ...] = ()
    """Columns that hold names of kernels, which are shown short."""
    lines: tuple[str, ...] = ()
    """In place of a table each row is a line of these parts, `{column}` standing for a value."""
    titled: bool = False
    """Whether the title stands above lines, too."""
    brief: str | None = None
    """Text that is shown in place of `doc`."""
    subject: str = ""
    """Subject, for the line that names what a trace holds nothing of."""
    least_rows: int = 1
    """With fewer rows a brief report does without the section: something else says the same."""
    optional: bool = False
    """Whether a brief report says nothing of the section where it has no rows."""
    top: int | None = None
    """Rows shown where no limit is asked for."""
    first: int | None = None
    """Rows on the first screen, at most; a table without it is left for `--all`."""
    without: tuple[str, ...] = ()
    """Columns that the first screen lacks."""
    line: str = ""
    """Part for each row in the one line that stands for the table on the first screen."""
    rest: tuple[str, ...] = ()
    """Columns that are summed up in one row for all that a limit leaves out."""
    always: tuple[str, ...] = ()
    """First values of the rows that no limit leaves out."""
    worst: str | None = None
    """Column by which many ranks are summed up and the worst few named, in a section with one row for each rank."""


@dataclass(frozen=True)
class Report:
    """A whole report: its sections, and the footer that says what the numbers rest on."""

    name: str
    title: str
    doc: str
    sections: tuple[Section, ...]
    footer: tuple[str, ...]
    is_brief: bool = False
    """Whether sections without rows are named in one line at the end."""


@dataclass(frozen=True)
class Check:
    """Whether a run, or a part of its step, keeps a limit beside A."""

    run: str
    """B, C, ..."""
    name: str
    """Name of the run's input."""
    kind: str
    """`step`, or what kind of part it is."""
    part: str
    """Name of the part in A, else in the run; empty for the step, and where no part could be checked."""
    limit_pct: float
    ratio: float | None
    """The run's time over A's."""
    low: float | None
    high: float | None
    outcome: str
    """`passed`, `failed`, or `cannot tell`."""
    reason: str


@dataclass(frozen=True)
class Finding:
    """The answer of one advice rule: found, not found, or cannot tell.

    Of several ranks with the problem it is the one that loses most. Times are per step (see `scope`), or per run.
    """

    rule: str
    title: str
    status: str
    reason: str
    """Why there is no answer, or what was found but is too little to matter."""
    problem: str = ""
    place: str = ""
    rank: int | None = None
    n_ranks: int = 0
    saving_ns: int | None = None
    """Upper bound of what the fix can give, by the path where that is known; None where no bound can be stated."""
    work_ns: int | None = None
    """The rule's own bound, before the critical path was asked."""
    step_ns: int | None = None
    saving_pct: float | None = None
    """Share of `step_ns`, or of `run_ns`."""
    confidence: str = ""
    evidence: tuple[str, ...] = ()
    fix: str = ""
    why: str = ""
    cost: str = ""
    unless: str = ""
    run_ns: int | None = None
    """The recording, for what is once per run or between steps: such a finding has no `step_ns`."""
    record: str = ""
    """Data to record to get an answer."""
    of: str = ""
    """Denominator of `saving_pct`: the step, the recording, or the recording, once; empty if not found."""
    path: str = ""
    """Whether its work is on the critical path of a step, is not, or that is not known; empty where nothing of the
    steps was found."""
    path_saving_ns: int | None = None
    """Upper bound of what the fix can give by the path: then it is `saving_ns`, at most `work_ns`."""
    path_slack_ns: int | None = None
    """Slack of work that is not on it: how much longer it could take before the step does."""
    path_reason: str = ""
    """Why that is not known."""


@dataclass(frozen=True)
class Track:
    """A row of a timeline: a stream, a thread or what traceview derives, below the label of its group."""

    group: str
    label: str
    n_slices: int


@dataclass(frozen=True)
class Timeline:
    """Slices, those of one track after the other, by start. `columns` are whole numbers of equal length.

    `start_ns` and `dur_ns` are nanoseconds, `step` a number, `launch` and `partner` places of slices, `detail` one in
    `details`, all others in `texts`; -1 is nothing.
    """

    tracks: tuple[Track, ...]
    texts: tuple[str, ...]
    details: tuple[str, ...]
    columns: Mapping[str, Any]
    note: str
    """Part of the recording this is, and what was left out."""
    step: int | None = None
    """The step that is shown first, where there are others."""


@dataclass(frozen=True)
class Page:
    """Content of a page about a run: reports, findings, tables with charts, and a timeline."""

    title: str
    reports: tuple[Report, ...]
    findings: tuple[Finding, ...]
    explained: tuple[str, ...]
    charts: tuple[Section, ...]
    timeline: Timeline | None
