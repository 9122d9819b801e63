"""Costs of operators: FLOP and bytes of every call whose operator has an entry in `models.toml`, for the views.

Invariant: an entry is data. It becomes one query over the different calls of a trace; nothing is computed call by call
in Python, and a trace without recorded shapes costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

from traceview import sql
from traceview.classify.rules import FOLDER
from traceview.paths import read_toml

FORMULAS = ("matrix_flop", "executed_flop", "vector_flop", "bytes")
"""Keys of an entry that are numbers of a call."""

_query = sql.texts("costs")
_made = partial(sql.made, "costed", _query)
_FIELD = re.compile(r"\b([a-z]\w*)\.([a-z]\w*)\b")


def cost(run: sql.Run) -> None:
    """Make the tables `costed.call`, the calls that count, and `costed.primitive`, primitives of oneDNN: each with the
    number of its cost, or of the reason why it has none, in `costed.cost`.

    Each query stands for itself: what runs them may run one again where it failed.
    """
    run("DROP SCHEMA IF EXISTS costed CASCADE; CREATE SCHEMA costed")
    names = [name for (name,) in run(_query("names"))]
    if not names:
        run(_made(call="none", cost="no_costs", primitive="no_primitives"))
        return
    functions = _file()["function"]
    run("; ".join(map("CREATE OR REPLACE MACRO {name}({parameters}) AS {expression}".format_map, functions)))
    known = {name: model for name in names if (model := _model(name))}
    run(f"CREATE TABLE costed.named AS {_query('models')}", {"names": list(known), "models": list(known.values())})
    has_primitives = any(name.startswith("onednn::") for name in names)
    run(_made(primitive="primitives" if has_primitives else "no_kinds_of_primitives", problem="problems"))
    used = {model for (model,) in run("SELECT DISTINCT model FROM costed.problem")}
    queries = [text(entry) for entry in entries() if entry["name"] in used]
    run("CREATE TABLE costed.raw AS " + " UNION ALL ".join(queries or [text(entries()[0])]))
    run(_made(cost="costs", candidate="candidates", outermost="outermost"))
    made = _made(call="calls", primitive="of_primitives" if has_primitives else "no_primitives")
    run(f"DROP TABLE IF EXISTS costed.candidate; {made}")
    steps = ("named", "problem", "raw", "outermost")
    gone = (*(f"TABLE costed.{name}" for name in steps), *(f"MACRO {function['name']}" for function in functions))
    run("; ".join(f"DROP {each}" for each in gone))


def entries() -> list[dict[str, Any]]:
    """Every model, in the order of the file."""
    models: list[dict[str, Any]] = _file()["model"]
    return models


def operators(entry: dict[str, Any]) -> Iterator[str]:
    """Yield the operators of a model: names, and patterns with a `*`."""
    for word in entry["operators"].split():
        name = word if "::" in word or "prefix" not in entry else entry["prefix"] + word
        yield name.removesuffix("[_]")
        if name.endswith("[_]"):
            yield name.removesuffix("[_]") + "_"


def places(family: str) -> Iterator[dict[str, Any]]:
    """Yield the operators of a family but XLA's, each with the place of every argument that its model names."""
    for entry in entries():
        if entry["family"] == family and not entry["operators"].startswith("hlo::"):
            numbered = {name: place for place, name in enumerate(entry["arguments"].split())}
            yield from ({"name": operator, **numbered} for operator in operators(entry))


def text(entry: dict[str, Any]) -> str:
    """Return the query that gives the cost of every different call of one model."""
    arguments = entry.get("arguments", "").split()
    first = entry.get("dtype", arguments[0])
    values = {key: entry.get(key, "0") for key in FORMULAS}
    ran = entry.get("executed_flop")
    values["executed_flop"] = f"TRY_CAST(round({ran}) AS BIGINT)" if ran else "matrix_flop"
    let = {**entry.get("let", {}), "kept_reason": _reason(entry)}
    used: dict[str, str] = {}

    def column(match: re.Match[str]) -> str:
        name, field = match.groups()
        if name not in arguments or field not in _file()["argument"]:
            return match[0]
        used[f"{name}.{field}"] = _file()["argument"][field].replace("@", str(arguments.index(name) + 1))
        return f'"{name}.{field}"'

    columns = {key: _FIELD.sub(column, value) for key, value in values.items()}
    named = ", ".join(f"{_FIELD.sub(column, value)} AS {key}" for key, value in let.items())
    dtype = _FIELD.sub(column, f"{first}.type")
    spoken = f"{' '.join(columns.values())} {named}"
    used |= {key: value for key, value in _file()["call"].items() if re.search(rf"\b{key}\b", spoken)}
    template: str = _file()["query"]["text"]
    return template.format(
        **columns,
        name=entry["name"].replace("'", "''"),
        family=entry["family"],
        direction=f"'{entry['direction']}'" if "direction" in entry else "NULL",
        is_wrapper=entry.get("is_wrapper", False),
        dtype=dtype,
        reason="kept_reason",
        assumed="list_size_is_assumed" if "list_size" in spoken else "false",
        how="'{}'".format(entry["how"].replace("'", "''")) if "how" in entry else "NULL",
        let=named,
        arguments=", ".join(f'{value} AS "{key}"' for key, value in used.items()),
    )


def _reason(entry: dict[str, Any]) -> str:
    """Return an expression that says why the cost of a call is not known, NULL where nothing speaks against it."""
    cases = " ".join(f"WHEN {case} THEN '{reason}'" for case, reason in entry.get("unless", {}).items())
    return f"CASE {cases} END" if cases else "CAST(NULL AS VARCHAR)"


def _file() -> dict[str, Any]:
    return read_toml(FOLDER / "models.toml")


@cache
def _names() -> dict[str, str]:
    """Return the model of each operator with a name of its own; the first entry that has it wins."""
    found: dict[str, str] = {}
    for entry in entries():
        for operator in operators(entry):
            found.setdefault(operator, entry["name"])
    return found


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    pairs = ((operator, model) for operator, model in _names().items() if "*" in operator)
    return [(re.compile(re.escape(operator).replace(r"\*", ".*")), model) for operator, model in pairs]


def _model(name: str) -> str | None:
    """Return the model of an operator; None where it has none."""
    if name in _names():
        return _names()[name]
    return next((model for pattern, model in _patterns() if pattern.fullmatch(name)), None)
