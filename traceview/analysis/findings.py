"""Findings of advice as a report: every answer for a program, what matters in words for people, or the best one.

Invariants: nothing found and nothing to be told are different sentences. Answers that are remembered for a capture are
those that running every rule gives, so they are used only where the user set nothing that decides an answer.
"""

from __future__ import annotations

import contextlib
import re
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from traceview import sql
from traceview.analysis import advice, certainty, reports
from traceview.analysis.model import AT_LEAST_PCT, TRACE, Column, Finding, Look, Report, Section
from traceview.errors import InputError
from traceview.lazy import duckdb
from traceview.paths import content, read_toml
from traceview.store import learned, materialized, views

BUSY = "The machine was busy with something else"
"""Words of the line of the footer that stands first: it is about every time."""
NO_ANSWER = "No answer: the rules need data that this trace does not hold."


@cache
def columns(what: str) -> dict[str, Column]:
    """The columns of `answers`, of what was `measured` beside each, or of the `best` finding, by name."""
    lines: str = read_toml(content("queries") / "advice" / "columns.toml")[what]
    found = (Column(*line.split(None, 2)) for line in lines.splitlines())
    return {column.name: column for column in found}


@dataclass(frozen=True)
class Answers:
    """Answers of rules about one capture, the lines under them, and what the capture ran on."""

    findings: tuple[Finding, ...]
    footer: tuple[str, ...]
    place: learned.Place


def run(
    connection: duckdb.DuckDBPyConnection,
    rules: Sequence[sql.Query] = (),
    params: Mapping[str, str] | None = None,
    at_least_pct: float = AT_LEAST_PCT,
    is_remembered: bool = False,
) -> Answers:
    """Answer by these rules, all without one. `is_remembered`: by what an earlier command found, where it is the same;
    not for some ranks of a capture, or a device that was named by hand."""
    rules = rules or advice.load()
    own = views.memory_of(connection) if is_remembered and is_usual(rules, params, at_least_pct) else None
    if own and (known := _again(materialized.recall(own))):
        return known
    # It imports numpy, which takes as long as a small capture.
    from traceview.analysis import advice_path

    found = advice_path.run(connection, rules, params, at_least_pct)
    lines = reports.experiment(connection), advice.explained(connection), reports.footer(connection)
    done = Answers(tuple(found), tuple(line for each in lines for line in each), ran_on(connection))
    if own:
        materialized.remember(own, asdict(done))
    return done


def is_usual(rules: Sequence[sql.Query], params: Mapping[str, str] | None, at_least_pct: float) -> bool:
    """Whether this asks what is remembered: all rules, with nothing set."""
    return not params and at_least_pct == AT_LEAST_PCT and [rule.name for rule in rules] == advice.names()


def remembered(folder: Path) -> Answers | None:
    """The answers of all rules about a capture as an earlier command found them; None where there are none."""
    with contextlib.suppress(OSError, InputError):
        return _again(materialized.recall(materialized.place(folder)))
    return None


def _again(plain: Any) -> Answers | None:
    try:
        findings = tuple(Finding(**{**each, "evidence": tuple(each["evidence"])}) for each in plain["findings"])
        return Answers(findings, tuple(map(str, plain["footer"])), learned.Place(**plain["place"]))
    except (TypeError, KeyError):
        return None


def ran_on(connection: duckdb.DuckDBPyConnection) -> learned.Place:
    """Return the framework and device that a capture ran on, as trials of `tune` are told apart."""
    ((title, found, device, model, threads),) = sql.load(content("queries") / "ran_on.sql").run(connection)
    framework = next((key for key in advice.frameworks() if found and key in found), found)
    return learned.Place(framework, str(device), title or framework or "", model, threads)


MOST_BEST = 3
"""Findings that a first screen names."""
LONGEST_CHANGE = 220
"""Letters of a change on a first screen that names several."""
_LINES = (
    "{told}",
    "up to {saving_ns} {per} ({saving_pct} of it)",
    "{confidence} confidence",
    "\n{change}",
    "\n{command}",
    "{others}",
)


def best(connection: duckdb.DuckDBPyConnection, is_remembered: bool = False) -> Section:
    """The best finding of all rules, with the command that shows it, as a section of a report."""
    return best_of(run(connection, is_remembered=is_remembered).findings)


def best_of(findings: Sequence[Finding]) -> Section:
    """The best of these answers of all rules as a section of a report, or that there is none."""
    found = [finding for finding in findings if finding.status == advice.FOUND]
    rows = _best(found) if found else [_none(findings)]
    shape = columns("best")
    values = tuple(tuple(map(row.get, shape)) for row in rows)
    doc = "The findings of advice that could save most."
    return Section("finding", "Advice", doc, (*shape.values(),), values, None, "", look=Look(lines=_LINES, brief=""))


def _best(found: Sequence[Finding]) -> list[dict[str, Any]]:
    if certainty.level(found[0]) == certainty.LOW:
        rules = ", ".join(finding.rule for finding in found)
        told = f"No finding is more than a guess. Of low confidence: {rules}"
        return [{"told": told, "command": f"traceview advise {TRACE} --evidence"}]
    rows = [_row("Then", finding) for finding in found[:MOST_BEST]]
    rest = [finding.rule for finding in found[MOST_BEST:]]
    rows[0] |= {
        "told": _row("Best finding", found[0])["told"],
        "change": f"Change: {_first_changes(found[0].fix)}",
        "command": f"traceview advise {TRACE} {found[0].rule}",
    }
    if rest:
        rows[-1]["others"] = f"{len(rest)} more finding{'' if len(rest) == 1 else 's'}: {', '.join(rest)}"
    return rows


def _first_changes(fix: str) -> str:
    """As many of the changes as fit three lines, the first one whole, and how many more the finding itself names."""
    first, *parts = fix.split("; ")
    while parts and len(first) + len(parts[0]) < LONGEST_CHANGE:
        first += f"; {parts.pop(0)}"
    return f"{first}; {len(parts)} more:" if parts else first


def _row(word: str, finding: Finding) -> dict[str, Any]:
    is_off = finding.path == certainty.OFF
    return {
        "told": f"{word}: {finding.title}" + (f" ({certainty.OFF})" if is_off else ""),
        "rule": finding.rule,
        "saving_ns": None if is_off else finding.saving_ns,
        "per": _per(finding),
        "saving_pct": None if is_off else finding.saving_pct,
        "confidence": certainty.level(finding),
    }


def _per(finding: Finding) -> str:
    """Say what the saving is per; of several ranks it is that of the one that loses most, and a share of its step."""
    if finding.of.endswith("once"):
        return "once in the recording"
    of = f" of rank {finding.rank}" if finding.n_ranks > 1 or finding.rank else ""
    return f"per step{of}" if finding.of == "the step" else f"in the recording{of}"


def _none(findings: Sequence[Finding]) -> dict[str, Any]:
    unknown = sum(finding.status == advice.CANNOT_TELL for finding in findings)
    checked = len(findings) - unknown
    told = f"No problem found by {checked} rule{'' if checked == 1 else 's'} of advice"
    if unknown:
        told += f"; {unknown} need data that this trace does not hold"
    if not checked:
        told = f"No advice: all {unknown} rules need data that this trace does not hold"
    return {"told": f"{told}.", "command": f"traceview advise {TRACE} --all" if unknown else None}


def exact(answers: Answers) -> Report:
    """Every answer of every rule, for a program, with what tune measured on what the trace ran on."""
    rows = tuple(
        (
            *(list(value) if isinstance(value, tuple) else value for value in astuple(finding)),
            *_measured(finding, answers.place),
        )
        for finding in answers.findings
    )
    names = (*columns("answers"), *columns("measured"))
    return _report((_section("answers", "Answers", "One row per rule.", names, rows),), answers.footer)


def _measured(finding: Finding, place: learned.Place) -> tuple[float | None, ...]:
    """The values of the columns of what was measured."""
    is_bound = finding.status == advice.FOUND and finding.saving_ns
    found = learned.measured(finding.rule, place) if is_bound else None
    if found is None:
        return (None,) * len(columns("measured"))
    if not found.trials:
        return (0, None, None, None, None, len(found.others))
    runs = (len(found.trials), found.reached, learned.WITHIN, 100 * found.share, found.screened)
    return (*runs, len(found.others))


def for_people(answers: Answers, with_evidence: bool = False, with_all: bool = False) -> Report:
    """Report the findings in words, then what lacks data (in one line, or all), then what is not a problem.

    With each finding stands what `tune` measured on what the trace ran on."""
    findings = answers.findings
    found = [finding for finding in findings if finding.status == "found"]
    rows: tuple[tuple[object, ...], ...] = tuple(
        (f.rule, f.title, f.saving_ns, f.saving_pct, f.of, certainty.level(f)) for f in found
    )
    columns = ("rule", "title", "saving_ns", "saving_pct", "of", "confidence")
    none = "No problem found." if any(f.status == "not found" for f in findings) else NO_ANSWER
    summary = _section("found", "What to change", _denominator(found), columns, rows, none)
    details = [each for finding in found for each in _detail(finding, with_evidence, answers.place)]
    unknown = [f for f in findings if f.status == "cannot tell"]
    lacking = tuple((f.rule, f.reason) for f in unknown)
    tail = [_section("unknown", "Not enough data", "", ("rule", "reason"), lacking)] if unknown and with_all else []
    absent = [f.rule + (f" ({f.reason})" if f.reason else "") for f in findings if f.status == "not found"]
    lines = (
        ["--evidence says more of each finding: trade-offs, and what shows it."] if found and not with_evidence else []
    )
    lines += [] if with_all or not unknown else [_not_enough(unknown)]
    lines += [f"Checked, no problem: {', '.join(absent)}."] if absent else []
    busy = [line for line in answers.footer if BUSY in line]
    rest = [line for line in answers.footer if line not in busy]
    return _report((summary, *details, *tail), (*lines, *path_reasons(found), *rest), " ".join(busy))


def _not_enough(unknown: Sequence[Finding]) -> str:
    """One line on the rules that cannot tell, by what to record for them, what most of them lack first."""
    rules: defaultdict[str, list[str]] = defaultdict(list)
    for finding in unknown:
        rules[finding.record].append(finding.rule)
    groups = sorted(rules.items(), key=lambda group: -len(group[1]))
    needs = (f"{record} ({_few(names)})" for record, names in groups)
    n = "1 rule" if len(unknown) == 1 else f"{len(unknown)} rules"
    return f"Not enough data for {n}. To record: {'; '.join(needs)}. --all says why."


def _few(names: Sequence[str]) -> str:
    """These names, or how many they are where that is more than two."""
    return ", ".join(names) if len(names) <= 2 else f"for {len(names)} rules"


def path_reasons(findings: Iterable[Finding]) -> list[str]:
    """Why the critical path says nothing of findings, each reason once."""
    by_reason: dict[str, list[str]] = {}
    for finding in findings:
        if finding.path == certainty.NOT_KNOWN:
            by_reason.setdefault(finding.path_reason, []).append(finding.rule)
    return [f"Critical path not known for {', '.join(rules)}: {reason}." for reason, rules in by_reason.items()]


def _denominator(found: Sequence[Finding]) -> str:
    times = sorted({f.step_ns for f in found if f.step_ns})
    has_steps = any(f.of == "the step" for f in found)
    once = (
        "What is once per run, or between steps, is a share of the recording. " if any(f.run_ns for f in found) else ""
    )
    if not times:
        return once.rstrip()
    text = " to ".join(f"{time / 1e6:,.3f} ms" for time in dict.fromkeys((times[0], times[-1])))
    what = (
        f"per step and in percent of the step time ({text})"
        if has_steps
        else f"in the whole recording, which has no steps, and in percent of it ({text}, start-up included)"
    )
    return f"Potential saving (upper bound) in device time, {what}. {once}Findings can overlap: do not add them up."


MOST_LINES, WIDTH = 12, 100
"""Lines of a finding whose evidence is not asked for, its title among them, on a terminal of that width."""
_LONGEST = {"fix": 280, "why": 280, "place": 93}
"""Letters of a sentence from which its middle is left out; 180 of others."""


def _fitted(texts: Mapping[str, str]) -> dict[str, str]:
    """As many sentences of each text as fit: those that say least give way first; changes that do are counted."""
    parts = {name: re.split(r"(?<=[.;]) (?=\S)", text)[:MOST_LINES] for name, text in texts.items() if name != "cost"}
    n_changes = len(parts["fix"])

    def shown(name: str) -> str:
        most, more = _LONGEST.get(name, 180), n_changes - len(parts[name]) if name == "fix" else 0
        cut = (f"{p[: most // 2 - 2]}...{p[2 - most // 2 :]}" if len(p) > most else p for p in parts[name])
        text = re.sub(";$", "." if name == "why" else "", " ".join(cut))
        return f"{text}; {more} more with --evidence" if more else text

    def n_lines() -> int:
        told = (f"{label.doc}: {shown(name)}" for name, label in columns("detail").items() if parts.get(name))
        return 1 + sum(len(textwrap.wrap(text, WIDTH, break_on_hyphens=False)) for text in told)

    for name in ("why", "confidence", "place", "fix", "saving", "measured"):
        while len(parts.get(name, ())) > 1 and n_lines() > MOST_LINES:
            parts[name].pop()
    return {name: shown(name) for name in parts if parts[name]}


def _detail(finding: Finding, with_evidence: bool, place: learned.Place) -> list[Section]:
    """A finding as lines; all, with the evidence, where that is asked for. Numbers are as exact as they are sure."""
    ranks = f" {finding.n_ranks} ranks have this, rank {finding.rank} most." if finding.n_ranks > 1 else ""
    saved = f"up to {finding.saving_ns / 1e6:,.3f} ms {_per(finding)}" if finding.saving_ns else ""
    share = f" ({finding.saving_pct:.1f} % of it)" if saved and finding.saving_pct is not None else ""
    values = {
        **{name: getattr(finding, name) for name in ("fix", "place", "confidence", "unless", "cost")},
        "saving": f"{saved}{share}{'. ' if saved else ''}{certainty.path_sentence(finding)}".rstrip(),
        "why": f"{finding.problem}{ranks} {finding.why}",
        "measured": str((finding.saving_ns and learned.measured(finding.rule, place)) or ""),
    }
    texts = {name: certainty.said(finding, text) for name, text in values.items() if text}
    texts = texts if with_evidence else _fitted(texts)
    shape = [label for name, label in columns("detail").items() if name in texts]
    look = Look(lines=tuple(f"\n{label.doc}: {{{label.name}}}" for label in shape), brief="", titled=True)
    row = tuple(texts[label.name] for label in shape)
    sections = [Section(finding.rule, finding.title, "", tuple(shape), (row,), None, "", look=look)]
    lines = tuple((certainty.said(finding, line),) for line in finding.evidence) if with_evidence else ()
    return sections + ([_section(f"{finding.rule}_evidence", "", "", ("evidence",), lines)] if lines else [])


def _report(sections: tuple[Section, ...], footer: tuple[str, ...], doc: str = "") -> Report:
    return Report("advice", "Advice", doc, sections, footer)


def _section(
    name: str, title: str, doc: str, names: Sequence[str], rows: tuple[tuple[object, ...], ...], if_none: str = ""
) -> Section:
    known = columns("answers") | columns("measured")
    shape = tuple(known[name] for name in names)
    return Section(name, title, doc, shape, rows, None if rows else if_none or None, "")
