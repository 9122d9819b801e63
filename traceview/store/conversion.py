"""Reads trace files, rank by rank, through a staging database into a folder of tables.

Invariant: all ranks of a capture are on one clock, that of the first; what a file cannot give is said, never guessed.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from traceview import readers
from traceview.decode.files import Stream, files_in
from traceview.errors import InputError, NoRoom, Refused, shortage
from traceview.ingest import collected, secrets
from traceview.ingest.finish import Export, finish
from traceview.ingest.options import Options
from traceview.ingest.sink import LATEST_NS, WEEK_NS, Sink, at_hand
from traceview.lazy import duckdb
from traceview.paths import literal
from traceview.sql import PARQUET, text, texts
from traceview.store import confine
from traceview.store.discovery import Trace
from traceview.store.staging import SPILLED, Stages

MAX_RANK = 1 << 22
"""Ids of a rank begin at a multiple of its number and are 64 bits."""
LINKING = "linking kernels to operators"
"""Name of the phase after a rank has been read, as users see it."""
SAID = 3
"""Troubles that a refusal names."""
NAMED = 3
"""Traces that could not be read and are named where their number is told."""
LEFT_OUT = "traces of the job that could not be read and are left out"
_captured = texts("ingest/captured")
Refusal = tuple[str, str]
"""Name of a trace that cannot be read, and why, in a sentence."""


@dataclass
class Source:
    """One file to read, and the reader that knows it."""

    path: Path
    reader: ModuleType
    part: Any = None
    """One process of a file that holds several (see `readers.parts`); None for a file of one process."""


@dataclass
class Group:
    """The files of one rank: a trace and the logs that belong to it."""

    sources: list[Source] = field(default_factory=list)
    rank: int | None = None
    about: dict[str, Any] = field(default_factory=dict)
    """Description of the run by traceview collect (`capture.json`), empty for traces from elsewhere."""
    captured: list[Source] = field(default_factory=list)
    """Traces of the capture of graphs that are replayed here."""


def sources_of(traces: Iterable[Trace]) -> list[Source]:
    """Return the sources to read: each trace, or each process of one that holds several."""
    return [
        Source(trace.path, trace.reader, part) for trace in traces for part in readers.parts(trace.reader, trace.path)
    ]


def group_by_rank(sources: list[Source]) -> list[Group]:
    """One group per trace; logs that accompany a trace join the only one, or the one whose name begins alike."""
    traces = [source for source in sources if not _is_companion(source)]
    companions = [source for source in sources if _is_companion(source)]
    groups = [Group([source]) for source in traces]
    for companion in companions:
        stem = companion.path.name.split(".")[0]
        alike = [group for group in groups if group.sources[0].path.name.split(".")[0] == stem]
        home = alike or groups
        if len(home) == 1:
            home[0].sources.append(companion)
        else:
            groups.append(Group([companion]))
    return groups


def group_raw(found: Sequence[Source], about: dict[str, Any]) -> list[Group]:
    """One group per process of a collected run. Files named `rank-NNNN.*` belong to that rank.

    Of a file of several processes each is a rank: with the number that a collector in it had, else with a free one.
    Logs beside such a file stay by themselves: nothing tells whose they are.
    """
    numbers = {rank.get("pid"): rank.get("rank") for rank in about.get("ranks") or () if isinstance(rank, dict)}
    by_stem: dict[str, list[Source]] = {}
    for source in found:
        by_stem.setdefault(source.path.name.split(".")[0], []).append(source)
    groups = []
    for stem, sources in by_stem.items():
        parts = [source for source in sources if source.part is not None]
        rest = sorted((source for source in sources if source.part is None), key=_is_companion)
        together = [parts + rest] if len(parts) < 2 else [*([part] for part in parts), *([rest] if rest else [])]
        for position, members in enumerate(together):
            own = _rank_of(stem) if position == 0 else None
            groups.append(Group(members, numbers.get(getattr(members[0].part, "pid", None), own), about))
    return sorted(groups, key=lambda group: (group.rank is None, group.rank or 0))


def _is_companion(source: Source) -> bool:
    return bool(getattr(source.reader, "COMPANION", False))


def _rank_of(stem: str) -> int | None:
    digits = stem.removeprefix("rank-")
    return int(digits) if digits.isdigit() else None


def read_groups(groups: list[Group], folder: Path, options: Options) -> list[Refusal]:
    """Read every rank into `folder/rank-NNNN`, all on the clock of the first; return the traces that cannot be read."""
    total = sum(size(group) for group in groups)
    done = 0
    numbering, clock = Numbering(), Clock()
    refused: list[Refusal] = []
    with contextlib.closing(Stages(len(groups) > 1)) as stages:
        for group in groups:
            path = group.sources[0].path
            try:
                with staged(group, folder, options, stages, done, total) as sink:
                    found = identity(group, sink)
                    sink.rank = numbering.free(found, path)
                    origin, known = clock.origin(found.earliest_ns, found.zero_unix_ns)
                    options.enter(LINKING, len(numbering.taken) - 1, len(groups))
                    finish(Export(sink, folder / f"rank-{sink.rank:04d}", origin, known))
            except Exception as error:
                if len(groups) == 1:
                    raise
                refused.append((path.name, reason(error, path)))
                settle(refused if options.strict else (), len(groups), options)
            done += size(group)
    return refused


def reason(error: Exception, path: Path) -> str:
    """Why a trace cannot be read, in a sentence. Raises `NoRoom` where the machine is what fails."""
    if isinstance(error, NoRoom):
        raise error
    if isinstance(error, InputError):
        return str(error)
    if (lacking := shortage(error)) is not None:
        raise NoRoom(lacking) from error
    first = (str(error).splitlines() or [""])[0][:200]
    return f"{path}: an unexpected {type(error).__name__} ({first})."


def settle(refused: Sequence[Refusal], n_traces: int, options: Options) -> None:
    """Say which traces are left out. Raises `InputError` where none is left, and with --strict for the first."""
    if not refused:
        return
    if len(refused) == n_traces:
        raise InputError(f"none of {n_traces} traces can be read; the first: {refused[0][1]}")
    if options.strict:
        raise Refused(refused[0][1])
    if options.note:
        reasons = "; ".join(text.rstrip(".") for _, text in refused[:NAMED])
        more = f"; and {len(refused) - NAMED} more" if len(refused) > NAMED else ""
        are = "is" if len(refused) == 1 else "are"
        options.note(f"{len(refused)} of {n_traces} traces could not be read and {are} left out: {reasons}{more}")


def count_left_out(captures: Path, refused: Sequence[Refusal]) -> None:
    """Count traces that could not be read among the troubles that a table `captures` tells."""
    beside = captures.with_name(f".{captures.name}")
    query, values = with_left_out("FROM read_parquet($file, hive_partitioning = false)", refused)
    values |= {"file": literal(captures), "path": str(beside)}
    with duckdb.connect(":memory:", config={**confine.SETTINGS, "threads": 1}) as connection:
        connection.execute(f"COPY ({query}) TO $path ({PARQUET}, COMPRESSION zstd)", values)
    beside.replace(captures)


def with_left_out(query: str, refused: Sequence[Refusal]) -> tuple[str, dict[str, Any]]:
    """Rows of `captures`, with what could not be read beside the troubles of the first; and its parameters."""
    problem = "struct_pack(kind := $kind, n := CAST($n AS BIGINT), examples := CAST($examples AS VARCHAR[]))"
    problems = (
        f"CASE WHEN row_number() OVER () = 1 THEN list_append(coalesce(problems, []), {problem}) ELSE problems END"
    )
    added = {"kind": LEFT_OUT, "n": len(refused), "examples": [text[:200] for _, text in refused[:10]]}
    return f"SELECT * REPLACE ({problems} AS problems) FROM ({query})", added


@contextlib.contextmanager
def staged(
    group: Group, folder: Path, options: Options, stages: Stages, done: int = 0, total: int = 0
) -> Iterator[Sink]:
    """The files of one rank, read into a staging database that lies in memory, or in `folder` where it does not fit."""
    n_bytes = size(group)
    with stages.open(folder, options, n_bytes) as connection:
        sink = Sink(connection, folder / SPILLED)
        for source in group.sources:
            _read_source(source, sink, group, options, done, total or n_bytes)
            done += _size(source)
        mine = _described(group, sink)
        collected.add(sink, mine)
        sink.join_spilled()
        for number, source in enumerate(group.captured, 1):
            _add_captured(source, number, sink, folder / f"captured-{number}", options)
        _add_processor(sink, mine)
        _add_rank(sink)
        yield sink


def _add_captured(source: Source, number: int, sink: Sink, folder: Path, options: Options) -> None:
    """Add operators, launches and modules of the capture of graphs to a trace of their replays, before its beginning.

    What ran on the device meanwhile is not part of the trace.
    """
    folder.mkdir()
    with contextlib.closing(Stages(False)) as stages, stages.open(folder, options, _size(source)) as connection:
        other = Sink(connection, folder / SPILLED)
        source.reader.read(Stream(source.path), other)
        other.settle_times()
        other.join_spilled()
        end_ns, last = connection.execute(_captured("latest")).fetchall()[0]
        if last is None:
            raise InputError(f"{source.path} cannot be used: it holds no operators and no launches.")
        shift = (sink.earliest_ns() or 0) - end_ns - 1
        moved = {"first": str(sink.next_id), "shift": str(shift), "thread": str(number << 40)}
        for table in ("ops", "api_calls", "ranges"):
            rows = connection.sql(_captured(table, **moved)).to_arrow_table()
            sink.connection.register("captured", rows)
            sink.connection.execute(f"INSERT INTO {at_hand(sink.connection, table)} BY NAME SELECT * FROM captured")
            sink.connection.unregister("captured")
        sink.next_id += last + 1
        counts = {name: other.facts.get(name, 0) for name in ("n_events", "n_kept", "n_repaired", "n_dropped")}
        clock = "before the replays: operators, launches, modules and frames of the capture of graphs alone"
        sink.fact(source=source.path.name, format=source.reader.NAME, clock=clock, **counts)
        sink.end_source()
    folder.rmdir()


@dataclass(frozen=True)
class Identity:
    """Number of a rank and of those of its job, name of its process, and its times on its own clock, where known."""

    rank: int | None = None
    world_size: int = 0
    process: str | None = None
    """For people; of a job of one rank its number stands instead."""
    earliest_ns: int = 0
    latest_ns: int | None = None
    zero_unix_ns: int | None = None


def identity(group: Group, sink: Sink) -> Identity:
    """Return what a rank is by its name and its files."""
    rank = group.rank if group.rank is not None else sink.recorded_rank
    ((size, process, latest_ns),) = sink.connection.execute(text("ingest/events/identity")).fetchall()
    process = f"rank {rank}" if size == 1 and rank is not None else process
    return Identity(rank, size, process, sink.earliest_ns() or 0, latest_ns, sink.zero_unix_ns)


@dataclass
class Numbering:
    """Numbers of ranks: each its own where it has one that is free, else the first free one."""

    taken: dict[int, str] = field(default_factory=dict)
    """Names of the files by number."""
    times: dict[str, list[tuple[int, int, str]]] = field(default_factory=dict)
    """First and last time of each recording of a process, with the name of its file."""

    def free(self, found: Identity, path: Path) -> int:
        """The number of the next rank. Raises `InputError` for a second trace of a rank of a job of several, and for
        one of the same process at another time."""
        asked = found.rank
        if asked in self.taken and found.world_size > 1:
            raise InputError(f"{path} is another trace of rank {asked}, beside {self.taken[asked]}.")
        if found.process and found.zero_unix_ns is not None and found.latest_ns is not None:
            first, last = (found.zero_unix_ns + at_ns for at_ns in (found.earliest_ns, found.latest_ns))
            others = self.times.setdefault(found.process, [])
            apart = [name for begin, end, name in others if last < begin or end < first]
            if apart and (asked is None or asked in self.taken):
                again = f"{path} records {found.process} at another time than {apart[0]}"
                raise InputError(f"{again}; name one of them, or give both to `traceview compare --a`.")
            others.append((first, last, path.name))
        rank = asked if asked is not None and 0 <= asked <= MAX_RANK and asked not in self.taken else None
        if rank is None:
            rank = next(number for number in range(len(self.taken) + 1) if number not in self.taken)
        self.taken[rank] = path.name
        return rank


@dataclass
class Clock:
    """One zero for all ranks: the beginning of the first that knows the wall clock."""

    origin_unix_ns: int | None = None

    def origin(self, earliest_ns: int, zero_unix_ns: int | None) -> tuple[int, int | None]:
        """The zero of the next rank on its own clock, and in nanoseconds since 1970 if that is known.

        `earliest_ns` is its first start on its own clock, `zero_unix_ns` the wall-clock time of that clock's zero.
        """
        # Of a rank that begins at no time that can be true the sums with times of others would leave 64 bits.
        if zero_unix_ns is None or not -WEEK_NS <= zero_unix_ns + earliest_ns <= LATEST_NS:
            return earliest_ns, None
        if self.origin_unix_ns is None:
            self.origin_unix_ns = zero_unix_ns + earliest_ns
        return self.origin_unix_ns - zero_unix_ns, self.origin_unix_ns


def size(group: Group) -> int:
    """Bytes of the files of a rank."""
    return sum(_size(source) for source in group.sources)


def _size(source: Source) -> int:
    return sum(file.stat().st_size for file in files_in(source.path))


def _without_memory(about: dict[str, Any]) -> dict[str, Any]:
    """Leave out the tensors that were noted in memory, thousands: they are rows of `allocations` (`collected.add`)."""
    ranks = about.get("ranks")
    if not isinstance(ranks, list):
        return about
    rest = [{key: rank[key] for key in rank if key != "memory"} if isinstance(rank, dict) else rank for rank in ranks]
    return {**about, "ranks": rest}


def _read_source(source: Source, sink: Sink, group: Group, options: Options, done: int, total: int) -> None:
    about, mine = group.about, _described(group, sink)
    progress = options.progress
    report = (lambda n_read: progress(done + n_read, total)) if progress else None
    stream = Stream(source.path, progress=report)
    sink.fact(source=source.path.name, format=source.reader.NAME)
    if source.part is None:
        source.reader.read(stream, sink)
    else:
        source.reader.read(stream, sink, source.part)
    if sink.zero_unix_ns is None and isinstance(mine.get("zero_unix_ns"), int):
        sink.zero_unix_ns = mine["zero_unix_ns"]
    sink.settle_times()
    if about:
        sink.fact(
            command=shlex.join(secrets.command([str(word) for word in about.get("command") or ()])) or None,
            framework_version=about.get("framework_version"),
            options=_without_memory(about),
        )
    if "clock" not in sink.facts:
        has_wall_clock = sink.zero_unix_ns is not None
        sink.fact(clock="wall clock of the trace" if has_wall_clock else "its own: the trace records no wall clock")
    troubles = [problem.kind for problem in sink.problems.values()]
    n_repaired = sink.facts.get("n_repaired", 0)
    if options.strict and (troubles or n_repaired):
        said = [*troubles, *([f"{n_repaired} events had to be repaired"] if n_repaired else [])]
        raise Refused(f"{source.path}: {_listed(said)}")
    if not sink.facts.get("n_kept") and (troubles or not getattr(source.reader, "MAY_BE_EMPTY", False)):
        reason = _listed(troubles) if troubles else "it holds no events"
        raise InputError(f"{source.path} cannot be used: {reason}.")
    sink.end_source()


def _described(group: Group, sink: Sink) -> dict[str, Any]:
    """Return traceview collect's description of the process of this rank; empty for traces from elsewhere."""
    ranks = [rank for rank in group.about.get("ranks") or () if isinstance(rank, dict)]
    number = sink.recorded_rank if group.rank is None else group.rank
    return next((rank for rank in ranks if rank.get("rank") == number), ranks[0] if ranks else {})


def _listed(troubles: list[str]) -> str:
    """A few troubles, so that a refusal stays a sentence."""
    more = len(troubles) - SAID
    return "; ".join(troubles[:SAID]) + (f"; and {more} more" if more > 0 else "")


def _add_processor(sink: Sink, mine: dict[str, Any]) -> None:
    """The processor of a collected run, as a device: a run without a GPU has one too."""
    if mine.get("cpu"):
        sink.write_rows("devices", [{"name": mine["cpu"], "kind": "cpu", "n_cores": mine.get("threads")}])


def _add_rank(sink: Sink) -> None:
    """A rank is a row of `ranks` also where its files say nothing about it: views count by rank."""
    if sink.connection.execute("SELECT count(*) FROM stage.ranks").fetchall() == [(0,)]:
        sink.connection.execute("INSERT INTO stage.ranks (pid) VALUES (NULL)")
