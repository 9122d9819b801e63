"""Runs the advice rules: every `.sql` file of `queries/advice/` looks for one problem and bounds what its fix can give.

Invariant: a rule answers found, not found or cannot tell (why), and what it says it can save is an upper bound that
counts no moment twice; findings are never added up, for two problems may be the same lost time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from traceview import sql
from traceview.analysis.certainty import LOW, OFF, level
from traceview.analysis.model import Finding
from traceview.classify import facts
from traceview.errors import UsageError, unknown
from traceview.lazy import duckdb
from traceview.paths import content, read_toml
from traceview.store import graph, views

FOUND, NOT_FOUND, CANNOT_TELL = "found", "not found", "cannot tell"

_columns: str = read_toml(content("queries") / "advice" / "columns.toml")["rules"]
COLUMNS = dict(line.split(None, 1) for line in _columns.splitlines())
"""Columns that the SELECT of every rule returns, at most one row per rank: explained here, not in 35 headers."""


def frameworks() -> list[str]:
    """Keys of a rule's [fix]: also with `_cpu`, for ranks without a device, and `any` for all others."""
    return [entry[1] for entry in facts.rows("framework")]


def names() -> list[str]:
    """Every rule there is."""
    return sorted(path.stem for path in (content("queries") / "advice").glob("*.sql"))


def load(asked: Sequence[str] = ()) -> list[sql.Query]:
    """The rules of these names; all without a name. Raises `UsageError` for a name that is not a rule."""
    known = names()
    for name in asked:
        if name not in known:
            raise unknown("advice rule", name, known, "`traceview list advice` names them all.")
    return [_answering(sql.load(content("queries") / "advice" / f"{name}.sql")) for name in asked or known]


def _answering(rule: sql.Query) -> sql.Query:
    """The rule with the step that its saving is a share of and cannot exceed; for what is of no step, the recording."""
    answer = sql.load(content("queries") / "answer.sql")
    whole = answer.extra["whole"]["run" if "per" in rule.extra else "step"]
    unseen = answer.extra["unseen"].format(rule.extra["sees"]) if "sees" in rule.extra else ""
    body = f"WITH found AS (\n{rule.body}\n), answer AS (FROM found {unseen}), whole AS ({whole})\n{answer.body}"
    return replace(rule, columns=COLUMNS, body=body)


def costs(text: str) -> list[str]:
    """The names of costs in a text, joined by commas: those that `whatif/prediction.sql` lists; all for `all`.

    Raises `UsageError` for an unknown name.
    """
    known = sql.load(content("queries") / "whatif" / "prediction.sql").params["costs"].choices
    asked = [name.strip() for name in text.split(",")]
    if asked == ["all"]:
        return list(known)
    for name in asked:
        if name not in known:
            there = "; ".join(f"{cost}: {meaning}" for cost, meaning in known.items())
            raise UsageError(f"there is no cost {name!r} for --what-if. The costs are all, or: {there}.")
    return list(dict.fromkeys(asked))


@dataclass(frozen=True)
class Need:
    """Data that rules need: the end of a query with a row where a capture holds it, and words where it does not."""

    holds: str
    missing: str
    record: str
    """A run that would have recorded it."""


@cache
def needs() -> dict[str, Need]:
    """Everything that rules need, by name."""
    return {name: Need(**entry) for name, entry in read_toml(content("queries") / "advice" / "needs.toml").items()}


def lacking(connection: duckdb.DuckDBPyConnection, names: Iterable[str], others: Iterable[str] = ()) -> Need | None:
    """The first of these needs that the capture does not hold. Each is looked up once; of `others`, which are asked for
    next, those of what is at hand together with the first."""
    known: dict[str, bool] = views.notes(connection).setdefault("needs", {})

    def is_held(name: str) -> bool:
        if name not in known:
            together = [each for each in others if each not in known and _is_at_hand(needs()[each])]
            asked = dict.fromkeys([name, *together])
            # One after the other: as columns of one row they take more than twice as long to plan.
            body = " UNION ALL ".join(f"(SELECT '{each}' {needs()[each].holds} LIMIT 1)" for each in asked)
            held = {each for (each,) in sql.Query("needs", "", "", body).run(connection)}
            known.update({each: each in held for each in asked})
        return known[name]

    return next((needs()[name] for name in names if not is_held(name)), None)


READ_ANYWAY = {"scope", "processes", "contention", "counted", "counted_conv_calls"}
"""Views that the first lines of a report read."""


def _is_at_hand(need: Need) -> bool:
    """Whether it reads recorded tables, and views that are there anyway, alone."""
    return all(source.startswith("raw.") or source in READ_ANYWAY for source in graph.sources(need.holds))


def explained(connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """How much of the time the devices were idle and how much of that has a cause; nothing where nothing ran."""
    return tuple(text for (text,) in sql.load(content("queries") / "explained.sql").run(connection))


def run(
    connection: duckdb.DuckDBPyConnection,
    rules: Sequence[sql.Query],
    params: Mapping[str, str] | None = None,
    at_least_pct: float = 0.0,
) -> list[Finding]:
    """One answer per rule: what was found by saving, largest first, what is of no step last; then the others.

    What can save less than `at_least_pct` of the step (of the recording, where there are no steps) is not found.
    Raises `UsageError` for a parameter that does not fit.
    """
    keys, asked = _keys(connection), [name for rule in rules for name in rule.extra["needs"]]
    absent = {rule.name: lacking(connection, ("recording", *rule.extra["needs"]), asked) for rule in rules}
    views.make_all(connection, (rule.body for rule in rules if not absent[rule.name]))

    def answer(own: duckdb.DuckDBPyConnection, rule: sql.Query) -> Finding:
        said = _answer(own, rule, params or {}, at_least_pct, absent[rule.name], keys)
        views.give_back(own)
        return said

    answers = {said.rule: said for said in views.ask_each(connection, answer, rules)}
    found = [_referring(answers[rule.name], answers.get(rule.extra.get("same_time_as", ""))) for rule in rules]
    return ordered(found)


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Found first, by its bound; after those what can save nothing, last what is of low confidence.

    What is of no step stands after what recurs in each, but for a rank that does not come; where there are no steps
    nothing tells the two apart.
    """
    findings = list(findings)
    has_steps = any(finding.of == "the step" for finding in findings)

    def place(finding: Finding) -> tuple[int, bool, bool, bool, int, int, str]:
        status = (FOUND, CANNOT_TELL, NOT_FOUND).index(finding.status)
        is_guess = finding.status == FOUND and level(finding) == LOW
        # Nothing goes on while ranks wait for one that does not come.
        is_once = has_steps and finding.run_ns is not None and finding.rule != "absent_rank"
        by_size = -(finding.saving_ns or 0), -(finding.work_ns or 0)
        return status, is_guess, finding.path == OFF, is_once, *by_size, finding.rule

    return sorted(findings, key=place)


def _referring(finding: Finding, other: Finding | None) -> Finding:
    """The finding without a saving of its own where another one that was found is of the same time."""
    if other is None or (finding.status, other.status) != (FOUND, FOUND):
        return finding
    return replace(
        finding,
        saving_ns=None,
        work_ns=None,
        saving_pct=None,
        problem=f"{finding.problem} What that can give is in {other.rule}: it is the same time.",
    )


def fix_of(rule: sql.Query, keys: Sequence[str], place: str = "the optimizer") -> str:
    """The option to change, for the first of these keys that the rule knows, else for any; of that `place`."""
    fixes: dict[str, str] = rule.extra["fix"]
    text = next((fixes[key] for key in (*keys, "any") if key in fixes), next(iter(fixes.values())))
    return text.replace("{place}", place)


def _answer(
    connection: duckdb.DuckDBPyConnection,
    rule: sql.Query,
    params: Mapping[str, str],
    at_least_pct: float,
    absent: Need | None,
    keys: Mapping[int, Sequence[str]],
) -> Finding:
    values = rule.typed(connection, params)
    if absent:
        return _finding(rule, CANNOT_TELL, f"{absent.missing}.", record=absent.record)
    names = (*COLUMNS, "step_ns", "run_ns", "saving_pct", "has_steps")
    rows = [dict(zip(names, row, strict=True)) for row in rule.run(connection, values)]
    if not rows:
        return _finding(rule, NOT_FOUND, "")
    if rows[0]["problem"] is None:
        need = needs()[rows[0]["place"] or "several_ranks"]
        return _finding(rule, CANNOT_TELL, f"{rows[0]['confidence']}.", record=need.record)
    most = max(rows, key=lambda row: (row["saving_ns"] or 0, -row["rank"]))
    share, is_once = most["saving_pct"], rule.extra.get("per") == "run"
    of = "the step" if most["has_steps"] and most["run_ns"] is None else "the recording"
    facts = {
        **{name: most[name] for name in ("problem", "rank", "confidence", *_TIMES)},
        "work_ns": most["saving_ns"],
        "place": most["place"] or "",
        "n_ranks": len(rows),
        "evidence": tuple(most["evidence"] or ()),
        "fix": fix_of(rule, keys.get(most["rank"], ()), most["place"] or ""),
        "of": f"{of}, once" if is_once else of,
    }
    if share is not None and share < at_least_pct:
        return _finding(rule, NOT_FOUND, f"there is some, but it costs {share:.2f} % of {of}", **facts)
    return _finding(rule, FOUND, "", **facts)


_TIMES = ("saving_ns", "step_ns", "run_ns", "saving_pct")


def _finding(rule: sql.Query, status: str, reason: str, **facts: Any) -> Finding:
    texts = {"fix": fix_of(rule, ()), **{name: rule.extra[name] for name in ("why", "cost", "unless")}}
    return Finding(rule=rule.name, title=rule.title, status=status, reason=reason, **{**texts, **facts})


def _keys(connection: duckdb.DuckDBPyConnection) -> dict[int, tuple[str, ...]]:
    """Per rank the keys of [fix] to look for, the closest first."""
    ranks, known = sql.load(content("queries") / "framework.sql").run(connection), frameworks()
    result: dict[int, tuple[str, ...]] = {}
    for rank, framework, has_device, is_engine in ranks:
        name = next((key for key in known if framework and key in framework), "any")
        result[rank] = (*["engine"] * is_engine, *[f"{name}_cpu"] * (not has_device), name)
    return result
