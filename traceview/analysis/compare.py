"""Compares runs: a few facts per run, which any capture or a saved comparison gives, and queries over those facts.

Invariant: runs never meet in one database. `queries/compare/facts/` measures each capture on its own connection; what
`queries/compare/*.sql` sees is those small tables, one row per run and fact, so that formats and frameworks mix freely.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeVar

from traceview import sql
from traceview.analysis import noise, reports
from traceview.analysis.model import Report, Section
from traceview.analysis.values import plain
from traceview.errors import InputError, UsageError
from traceview.lazy import duckdb
from traceview.paths import content, read_toml
from traceview.store import confine

if TYPE_CHECKING:
    import numpy as np


T = TypeVar("T")
MOST_RUNS = 26
"""Runs are called A to Z."""
TYPES = frozenset(("VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN"))
"""Types that a column of a fact can have: exact in JSON."""


@dataclass(frozen=True)
class Plan:
    """The queries of a comparison, in the order in which they run."""

    title: str
    doc: str
    window: tuple[sql.Query, ...]
    facts: tuple[sql.Query, ...]
    views: tuple[sql.Query, ...]
    sections: tuple[sql.Query, ...]


@cache
def plan() -> Plan:
    """Read `queries/compare/`."""
    folder = content("queries") / "compare"
    about = read_toml(folder / "compare.toml")
    parts = {
        part: tuple(sql.load(folder / where / f"{name}.sql") for name in about[part])
        for part, where in (("window", "window"), ("facts", "facts"), ("views", "views"), ("sections", "."))
    }
    return Plan(about["title"], about["doc"], **parts)


def has_steps(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether the capture has steps that count."""
    return bool(connection.execute("SELECT coalesce(bool_or(has_steps), false) FROM scope").fetchall()[0][0])


def measure(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    steps: tuple[int | None, int | None] | None,
    whole: bool,
    ordinal: int | None = None,
) -> Run:
    """The facts of one capture: of its steps that count, of the steps from one number to another, or of all of it.

    `ordinal` takes the one step in this place, from 1, among those that count. Raises `UsageError` when none of the
    steps asked for is there.
    """
    first, last = steps or (None, None)
    values = {"whole": whole, "first_step": first, "last_step": last, "ordinal": ordinal}
    for query in plan().window:
        mine = {key: value for key, value in values.items() if key in query.params}
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {query.name} AS {query.body}", mine or None)
    is_chosen = not whole and (steps or ordinal)
    if is_chosen and not connection.execute("SELECT count(*) FROM chosen_steps").fetchall()[0][0]:
        raise UsageError(f"{name} has none of the steps asked for; `traceview report INPUT steps` lists them.")
    facts = {}
    for query in plan().facts:
        rows = query.run(connection)
        shape = tuple((entry[0], str(entry[1])) for entry in connection.description or ())
        facts[query.name] = Fact(shape, tuple(tuple(plain(value) for value in row) for row in rows))
    return Run(name, facts, reports.footer(connection), choice(steps, ordinal) if is_chosen else "")


def choice(steps: tuple[int | None, int | None] | None, ordinal: int | None) -> str:
    """The option that chooses these steps; empty where all but warm-up count."""
    if steps:
        return f"--step {steps[0]}-{steps[1]}"
    return f"--nth-step {ordinal}" if ordinal else ""


def measures(sides: Sequence[Sequence[T]], run: Callable[[T, bool], Run]) -> tuple[list[Run], Run | None]:
    """The facts of every run, and those of the first as a whole where others have no steps.

    `sides`: of each run its recordings. `run` measures one of them, as a whole or its steps. Raises `UsageError` where
    two of a run are the same: copies tell nothing of how much recordings differ.
    """
    runs = [side([run(one, False) for one in recordings]) for recordings in sides]
    for each in runs:
        for one, other in combinations(each.recordings, 2):
            if one.facts["block"].rows and one.facts == other.facts:
                raise UsageError(f"{one.name} and {other.name} are the same recording; name it once.")
    if len({found.has_steps for found in runs}) < 2:
        return runs, None

    def whole(number: int) -> Run:
        return side([run(one, True) for one in sides[number]])

    if runs[0].has_steps:
        return runs, whole(0)
    return [whole(number) if found.has_steps else found for number, found in enumerate(runs)], None


def compare(runs: Sequence[Run], accepted: Iterable[str] = (), whole: Run | None = None) -> Report:
    """Every run against the first. `accepted`: conditions that may differ.

    `whole` is the first run measured as a whole: runs without steps are compared with that, where the first has steps.
    Raises `UsageError` for too many runs, `InputError` for facts of another version of traceview.
    """
    if len(runs) > MOST_RUNS:
        raise UsageError(f"at most {MOST_RUNS} runs can be compared at once.")
    numbered = list(enumerate(runs))
    if whole is None:
        sections = _sections(numbered, accepted)
    else:
        stepping = [(number, run) for number, run in numbered if run.has_steps]
        rest = [(0, whole), *((number, run) for number, run in numbered if not run.has_steps)]
        sections = tuple(map(_joined, _sections(stepping, accepted), _sections(rest, accepted)))
    footer = tuple(
        f"{chr(65 + number)}{place if run.others else ''}: {line}"
        for number, run in numbered
        for place, recording in enumerate(run.recordings, 1)
        for line in recording.footer
    )
    return Report("compare", plan().title, plan().doc, sections, footer)


def _sections(runs: Sequence[tuple[int, Run]], accepted: Iterable[str]) -> tuple[Section, ...]:
    """The sections over these runs by their numbers, of which the first is 0."""
    with confine.connect() as connection:
        for query in plan().facts:
            _gather(connection, query, runs)
        for name, fact in tables(runs).items():
            _fill(connection, name, fact.columns, fact.rows)
        for query in plan().views:
            values = {"accepted": list(accepted)} if "accepted" in query.params else None
            connection.execute(f"CREATE TABLE {query.name} AS {query.body}", values)
        return tuple(reports.section(connection, query) for query in plan().sections)


def _joined(first: Section, second: Section) -> Section:
    """The rows of both, run by run; what both say of A counts once, as the first says it."""
    rows = (*first.rows, *(row for row in second.rows if row[0] != "A"))
    ordered = rows if first.name == "work" else tuple(sorted(rows, key=lambda row: str(row[0])))
    return replace(first, rows=ordered, note=None if rows else first.note)


def in_words(report: Report) -> Report:
    """For people: the answer as sentences in front, and what the numbers mean below."""
    answer, *rest = report.sections
    sentences = " ".join(row[1] for row in answer.rows) or answer.note
    sections = (replace(answer, title="", doc="", columns=(), rows=(), note=sentences), *rest)
    return replace(report, doc="", sections=sections, footer=(report.doc, *report.footer))


def cut_section(section: Section, limit: int) -> Section:
    """At most `limit` rows per run, with a note of how many were left out."""
    seen: Counter[str] = Counter()
    rows = []
    for row in section.rows:
        seen[row[0]] += 1
        if seen[row[0]] <= limit:
            rows.append(row)
    left_out = len(section.rows) - len(rows)
    if not left_out:
        return section
    note = f"{left_out:,} of {len(section.rows):,} rows left out: {limit:,} per run are shown (--limit 0 shows all)."
    return replace(section, rows=tuple(rows), note=note)


def saved(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The facts of runs as JSON data, for `restored`; recordings of one side follow each other."""
    return [
        {
            "name": run.name,
            "side": number,
            "steps": run.steps,
            "footer": list(run.footer),
            "facts": {
                name: {"columns": [list(column) for column in fact.columns], "rows": [list(row) for row in fact.rows]}
                for name, fact in run.facts.items()
            },
        }
        for number, side in enumerate(runs)
        for run in side.recordings
    ]


def restored(data: object, source: str) -> Run:
    """The first run of what `saved` made, with its recordings but no copies. Raises `InputError` for anything else."""
    try:
        side = [entry for entry in data if entry["side"] == data[0]["side"]]  # type: ignore[attr-defined,index]
        # Neither NaN nor infinity, nor half a character in a name: this project writes none of them.
        json.dumps(side, allow_nan=False, ensure_ascii=False).encode()
        recordings = [_restored(entry) for entry in side]
        first = recordings[0]
    except (TypeError, KeyError, IndexError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"{source} is not a comparison written by `traceview compare --format json`.") from error
    distinct: list[Run] = []
    for run in recordings:
        _check(run.facts, source)
        if not run.facts["block"].rows or all(run.facts != one.facts for one in distinct):
            distinct.append(run)
    return replace(first, others=tuple(distinct[1:]))


def _restored(entry: Mapping[str, Any]) -> Run:
    facts = {
        name: Fact(
            tuple((str(column), str(type_)) for column, type_ in fact["columns"]),
            tuple(tuple(row) for row in fact["rows"]),
        )
        for name, fact in entry["facts"].items()
    }
    return Run(str(entry["name"]), facts, tuple(str(line) for line in entry["footer"]), str(entry.get("steps", "")))


def _check(facts: Mapping[str, Fact], source: str) -> None:
    for query in plan().facts:
        fact = facts.get(query.name)
        names = [name for name, _ in fact.columns] if fact else []
        is_whole = fact is not None and all(len(row) == len(names) for row in fact.rows)
        if fact is None or names != list(query.columns) or not is_whole or {type_ for _, type_ in fact.columns} - TYPES:
            raise InputError(f"{source} was written by another version of traceview, or changed: write it again.")
    if len(facts["run"].rows) != 1:
        raise InputError(f"{source} does not describe each run once; write it again.")


def _gather(connection: duckdb.DuckDBPyConnection, query: sql.Query, runs: Sequence[tuple[int, Run]]) -> None:
    """One table of a fact for all runs, with the number of the run in front (and its name in the table `run`)."""
    shape = runs[0][1].facts[query.name].columns
    about = (("name", "VARCHAR"), ("recordings", "BIGINT")) if query.name == "run" else ()
    rows = []
    for number, run in runs:
        lead = (number, run.name, len(run.recordings)) if about else (number,)
        rows += [(*lead, *row) for row in run.facts[query.name].rows]
    _fill(connection, query.name, (("run", "BIGINT"), *about, *shape), rows)


def _fill(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    columns: Sequence[tuple[str, str]],
    rows: Sequence[tuple[Any, ...]],
) -> None:
    """A table of these rows."""
    values = list(zip(*rows, strict=True)) if rows else [() for _ in columns]
    picked = ", ".join(f'unnest(CAST($c{n} AS {type_}[])) AS "{column}"' for n, (column, type_) in enumerate(columns))
    try:
        connection.execute(
            f'CREATE TABLE "{name}" AS SELECT {picked}', {f"c{n}": list(found) for n, found in enumerate(values)}
        )
    except duckdb.ConversionException as error:
        raise InputError(f"a saved comparison holds an invalid value ({str(error).splitlines()[0]}).") from error


@dataclass(frozen=True)
class Fact:
    """One table of facts about one run."""

    columns: tuple[tuple[str, str], ...]
    """Name and DuckDB type."""
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Run:
    """All that a comparison knows about a run."""

    name: str
    facts: dict[str, Fact]
    footer: tuple[str, ...]
    steps: str = ""
    """The option that chose its steps; empty where all but warm-up count."""
    others: tuple[Run, ...] = ()
    """More recordings of the same: they tell how much recordings differ, and this one is what is taken apart."""

    @property
    def recordings(self) -> tuple[Run, ...]:
        """This one and the others."""
        return (self, *self.others)

    @property
    def has_steps(self) -> bool:
        """Whether its numbers are per step."""
        return bool(self.value("has_steps"))

    def value(self, column: str) -> Any:
        """One column of the one row of the table `run`."""
        fact = self.facts["run"]
        return fact.rows[0][[name for name, _ in fact.columns].index(column)]

    def times(self, *tables: tuple[str, str, str]) -> dict[str, float]:
        """The time of each part of a step by its name, in ns, of tables with the columns of name and time."""
        found: dict[str, float] = {}
        for table, *columns in tables:
            fact = self.facts[table]
            key, time = ([name for name, _ in fact.columns].index(column) for column in columns)
            for row in fact.rows:
                found[row[key]] = found.get(row[key], 0.0) + row[time]
        return found


def side(runs: Sequence[Run]) -> Run:
    """The recording with the middle step time, and the others. Raises `UsageError` where only some have steps."""
    recordings = [recording for run in runs for recording in run.recordings]
    bare = [recording.name for recording in recordings if not recording.has_steps]
    if 0 < len(bare) < len(recordings):
        raise UsageError(f"no steps in {', '.join(bare)}, but in other recordings of the same run; leave one kind out.")
    ordered = sorted(recordings, key=lambda run: run.value("step_ns") or 0)
    middle = ordered[(len(ordered) - 1) // 2]
    return replace(middle, others=tuple(replace(run, others=()) for run in recordings if run is not middle))


ESTIMATE = (
    ("run", "BIGINT"),
    ("ratio", "DOUBLE"),
    ("low", "DOUBLE"),
    ("high", "DOUBLE"),
    ("confidence_pct", "DOUBLE"),
    ("noise_from", "VARCHAR"),
    ("recordings", "BIGINT"),
)
PART_NOISE = (("run", "BIGINT"), ("part", "VARCHAR"), ("low_ns", "DOUBLE"), ("high_ns", "DOUBLE"))
WHOLE = "(whole step)"


def tables(runs: Sequence[tuple[int, Run]]) -> dict[str, Fact]:
    """`estimate` (ratio of the step times) and `part_noise` (differences by part), for runs that both have steps, and
    `recording`: the facts of each recording of a run, as `run` has those of the middle one.

    Raises `InputError` for a value that is not a number where there must be one.
    """
    try:
        return _tables(runs)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"a saved comparison holds an invalid value ({error}).") from error


def _tables(runs: Sequence[tuple[int, Run]]) -> dict[str, Fact]:
    base = runs[0][1]
    whole: list[tuple[Any, ...]] = []
    parts: list[tuple[Any, ...]] = []
    for number, run in runs[1:]:
        recordings = len(base.recordings) + len(run.recordings)
        if not all(recording.has_steps for recording in (*base.recordings, *run.recordings)):
            continue
        found, text = _several(base, run) if recordings > 2 else _single(base, run)
        limits = _parts(base, run)
        if found is not None:
            ratio = found.ratio()
            whole.append((number, ratio.value, ratio.low, ratio.high, 100 * ratio.confidence, text, recordings))
            if ratio.confidence >= noise.CLAIM:
                limits += [(WHOLE, *(base.value("step_ns") * (end - 1) for end in (ratio.low, ratio.high)))]
        parts += [(number, part, *(round(end, 3) + 0.0 for end in ends)) for part, *ends in limits]
    each = [(number, *one.facts["run"].rows[0]) for number, run in runs for one in run.recordings]
    return {
        "estimate": Fact(ESTIMATE, tuple(whole)),
        "part_noise": Fact(PART_NOISE, tuple(parts)),
        "recording": Fact((("run", "BIGINT"), *base.facts["run"].columns), tuple(each)),
    }


def _several(base: Run, run: Run) -> tuple[noise.Interval | None, str]:
    times = [[recording.value("step_ns") for recording in side.recordings] for side in (base, run)]
    text = f"{len(base.recordings)} and {len(run.recordings)} recordings"
    return (noise.between(*(list(map(math.log, some)) for some in times)) if all(map(all, times)) else None), text


def _single(base: Run, run: Run) -> tuple[noise.Interval | None, str]:
    _, (a, b) = _blocks(base, run)
    if min(len(a), len(b)) > 1 and min(a[:, 1].min(), b[:, 1].min()) > 0:
        return noise.within(a[:, :2], b[:, :2], is_log=True)[0], "one recording each"
    given = [(side.value("step_ns"), side.value("sd_ns"), side.value("steps")) for side in (base, run)]
    if all(mean and deviation is not None and steps > 1 for mean, deviation, steps in given):
        return noise.from_deviations(*given), "one recording each, by their standard deviations"
    return None, ""


def _parts(base: Run, run: Run) -> list[tuple[str, float, float]]:
    """Low and high end of the difference of each part but the whole, which has those of the ratio."""
    if len(base.recordings) > 1 or len(run.recordings) > 1:
        sides = [[recording.times(*PARTS) for recording in side.recordings] for side in (base, run)]
        found = []
        for part in sorted({name for side in sides for times in side for name in times}):
            interval = noise.between(*([times.get(part, 0.0) for times in side] for side in sides))
            if interval.confidence >= noise.CLAIM:
                found.append((part, interval.low, interval.high))
        return found
    names, (a, b) = _blocks(base, run)
    if min(len(a), len(b)) < 2:
        return []
    return [(part, found.low, found.high) for part, found in list(zip(names, noise.within(a, b), strict=True))[1:]]


PARTS = (("cell", "category", "busy_ns"), ("idle", "part", "busy_ns"))
"""Tables whose rows add up to a step, each with the columns of name and time."""


def _blocks(base: Run, run: Run) -> tuple[list[str], list[np.ndarray[Any, Any]]]:
    """The parts of a step, the whole first; per run a row per block: its number of steps, then each part's mean."""
    import numpy as np

    sides = [side.facts["block"].rows for side in (base, run)]
    names = [WHOLE, *sorted({row[1] for rows in sides for row in rows} - {WHOLE})]
    found = []
    for rows in sides:
        places = {block: place for place, block in enumerate(sorted({row[0] for row in rows}))}
        blocks = np.zeros((len(places), len(names) + 1))
        for block, part, steps, busy in rows:
            blocks[places[block], names.index(part) + 1] = busy
            blocks[places[block], 0] = steps
        found.append(blocks)
    return names, found
