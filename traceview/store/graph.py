"""Dependencies of the queries in `queries/views`, from their texts: after FROM and JOIN stand names.

Invariant: the folder is the list of views, and nothing says their order but what they read.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from typing import Any

import tomli

from traceview.paths import content

_COMMENT = re.compile(r"--[^\n]*")
_SOURCE = re.compile(r"(?i)\b(?:FROM|JOIN)\s+([a-z_]+(?:\.[a-z_]+)?)\b")
_SAID = re.compile(
    r'(?m)^-- ((?:materialize|in_memory|whole_job|in_job|empty_without|types) = (?:"""(?:.*\n-- )*?.*?"""|.*))$'
)
"""Facts in the header of a view that say how its rows are made, without the columns and the rest."""


@cache
def names() -> tuple[str, ...]:
    """Every view, by name."""
    return tuple(sorted(path.stem for path in (content("queries") / "views").glob("*.sql")))


@cache
def functions() -> str:
    """Return the statements that make the macros which views share."""
    folder = content("queries") / "functions"
    return ";\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.sql")))


@cache
def text(view: str) -> str:
    """The query of a view, with its header."""
    return (content("queries") / "views" / f"{view}.sql").read_text(encoding="utf-8")


@cache
def _header(view: str) -> dict[str, Any]:
    return tomli.loads("\n".join(_SAID.findall(text(view))).replace("\n-- ", " "))


def is_materialized(view: str) -> bool:
    """Whether the rows of a view are stored once it was worked out, because that takes longer than reading it."""
    return "materialize" in _header(view)


def kind(view: str) -> str:
    """Return `TABLE` where the rows of a view are stored or, being few and much read, kept in memory; else `VIEW`."""
    return "TABLE" if {"materialize", "in_memory"} & _header(view).keys() else "VIEW"


def in_job(view: str) -> str:
    """A column of the rows of shards as it is in their job, of `{n_ranks}` with a time; empty where none changes."""
    return str(_header(view).get("in_job", ""))


def empty_without(view: str) -> frozenset[str]:
    """Names of views and tables without any row of which this view has none; empty where its header names none."""
    return frozenset(_header(view).get("empty_without", ()))


def types(view: str) -> str:
    """Columns of a view whose header says what it is empty without, each with its type, as a table is made of them."""
    return str(_header(view).get("types", ""))


@cache
def sources(queries: str) -> frozenset[str]:
    """The views and tables that queries read, by name, and other names after FROM."""
    return frozenset(name.lower() for name in _SOURCE.findall(_COMMENT.sub("", queries)))


def resting_on(read: Collection[str], given: Collection[str] = ()) -> list[str]:
    """The views that rest under those `read`, directly or through another view, with them: each after what it reads.

    Those `given` rest on nothing.
    """
    found: dict[str, None] = {}

    def visit(read: Collection[str]) -> None:
        for view in sorted(read):
            if view in names() and view not in found:
                if view not in given:
                    visit(sources(text(view)))
                found[view] = None

    visit(read)
    return list(found)


@cache
def reading(view: str) -> frozenset[str]:
    """A view and all that rest on it."""
    return frozenset(name for name in names() if view in resting_on([name]))


@cache
def is_of_job(view: str) -> bool:
    """Whether the rows of a view depend on other ranks than their own, or may: it reads one whose header says so."""
    return any("whole_job" in _header(name) for name in resting_on([view]))
