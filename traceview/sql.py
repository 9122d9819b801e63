"""Loads a `.sql` file: a header in TOML inside SQL comments, and one SELECT. A text of several lines is one paragraph.

    -- title = "Convolutions by algorithm"
    -- doc = "One row per algorithm and direction."
    -- cannot = "this trace holds no convolutions"
    -- [params]
    -- step = { type = "BIGINT", doc = "only this step; every step when left out" }
    -- [columns]
    -- calls = "operator calls"
    SELECT ...

Invariant: the path is the name, parameters are DuckDB's own `$name`, and SQL is never put together from input.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import tomli

from traceview.errors import InputError, UsageError, meant
from traceview.lazy import duckdb
from traceview.paths import content

Run = Callable[..., list[tuple[Any, ...]]]
"""Runs a query, with its parameters if it has any, and gives its rows."""
PARQUET = "FORMAT parquet, PARQUET_VERSION v2"
"""How tables are written: numbers as differences, in half the bytes, read in half the time (29 November 2026)."""


@cache
def unreadable_kinds() -> tuple[type[duckdb.Error], ...]:
    """Errors of DuckDB for files that are not as they were written, never for a query of ours that is wrong."""
    kinds = duckdb.DataError, duckdb.OperationalError, duckdb.InternalError, duckdb.FatalException
    return *kinds, duckdb.NotSupportedError, duckdb.PermissionException


def unreadable(error: duckdb.Error) -> Exception:
    """Return the error to raise for one of `unreadable_kinds`: a sentence, unless memory or our database failed."""
    if isinstance(error, duckdb.OutOfMemoryException):
        return error
    reason = str(error).splitlines()[0]
    return InputError(f"the capture cannot be read ({reason}); convert its trace again, and report it if that fails.")


@dataclass(frozen=True)
class Param:
    """A named parameter: DuckDB type, default (None for NULL) and meaning."""

    type: str
    doc: str
    default: Any = None
    choices: dict[str, str] = field(default_factory=dict)
    """Words that it can list, joined by commas, with their meaning; none: any text."""


@dataclass(frozen=True)
class Query:
    """One query file."""

    name: str
    title: str
    doc: str
    body: str
    cannot: str = ""
    """Sentence to show when the query has no rows because the trace does not hold what it needs."""
    params: dict[str, Param] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    """Other keys of the header, for the kind of query that has them (advice: why, fix)."""

    def run(self, connection: duckdb.DuckDBPyConnection, values: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """The rows, with parameters from `values` (text is converted by DuckDB) and defaults for the rest.

        Raises `UsageError` for a value that does not fit its type, `InputError` for what cannot be read in the capture.
        """
        bound = {name: param.default for name, param in self.params.items()}
        bound.update({name: value for name, value in (values or {}).items() if name in bound})
        # Products with a whole number would be whole numbers, and too large for one.
        numbers = {name for name, param in self.params.items() if param.type == "DOUBLE" and bound[name] is not None}
        bound.update({name: float(bound[name]) for name in numbers if not isinstance(bound[name], str)})
        try:
            return connection.execute(self.body, bound or None).fetchall()
        except (duckdb.ConversionException, duckdb.InvalidInputException, duckdb.OutOfRangeException) as error:
            if not values:
                reason = str(error).splitlines()[0]
                raise InputError(f"query {self.name} rejected a value in the capture ({reason}).") from error
            raise UsageError(f"{self.name}: a parameter does not fit ({error}).") from error
        except unreadable_kinds() as error:
            raise unreadable(error) from error

    def written(self, texts: Mapping[str, str]) -> str:
        """The body to be read or run elsewhere: parameters are written out, with `texts` in place of defaults."""

        def literal(match: re.Match[str]) -> str:
            name = match[1]
            if name not in self.params:
                return match[0]
            value = texts.get(name, self.params[name].default)
            quoted = "NULL" if value is None else "'" + str(value).replace("'", "''") + "'"
            return f"CAST({quoted} AS {self.params[name].type})"

        return re.sub(r"\$(\w+)", literal, self.body.rstrip().rstrip(";"))

    def typed(self, connection: duckdb.DuckDBPyConnection, texts: Mapping[str, str]) -> dict[str, Any]:
        """The texts that are for parameters of this query, each as a value of its parameter's type.

        Raises `UsageError` for a text that is not a value of that type, or not among the choices.
        """
        return {name: _typed(connection, name, texts[name], self.params[name]) for name in self.params if name in texts}


KINDS = {"DOUBLE": "a number", "BIGINT": "a whole number", "INTEGER": "a whole number", "BOOLEAN": "true or false"}
"""Values of a parameter in words, by its type in SQL."""


def _typed(connection: duckdb.DuckDBPyConnection, name: str, text: str, param: Param) -> Any:
    wrong = UsageError(f"{name} = {text!r} is not {KINDS.get(param.type, f'of type {param.type}')}: {param.doc}.")
    try:
        value = connection.execute(f"SELECT CAST($1 AS {param.type})", [text]).fetchall()[0][0]
    except duckdb.Error as error:
        raise wrong from error
    if isinstance(value, float) and not math.isfinite(value):
        raise wrong
    for word in text.split(",") if param.choices else ():
        if (word := word.strip()) not in param.choices:
            there = f"{meant(word, param.choices)}choices are: {', '.join(param.choices)}"
            raise UsageError(f"{name} = {text!r}: there is no {word!r}; {there}.")
    return value


@cache
def text(name: str, **values: str) -> str:
    """The text of `queries/<name>.sql`, with these texts in place of parameters."""
    path = content("queries") / f"{name}.sql"
    return load(path).written(values) if values else path.read_text(encoding="utf-8")


def texts(folder: str) -> Callable[..., str]:
    """`text` of the files in one folder of `queries`."""

    def inside(name: str, **values: str) -> str:
        return text(f"{folder}/{name}", **values)

    return inside


def made(schema: str, query: Callable[[str], str], **queries: str) -> str:
    """Statements that make tables of a schema, one after the other, each by the query of a name."""
    return "; ".join(f"CREATE OR REPLACE TABLE {schema}.{table} AS {query(name)}" for table, name in queries.items())


def of_rows(types: Mapping[str, str], rows: Sequence[tuple[Any, ...]]) -> tuple[str, dict[str, list[Any]]]:
    """A query for these rows, and its parameters: to register Arrow data would import pandas, a quarter of a second."""
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in types]
    picked = ", ".join(f'unnest(CAST($c{n} AS {kind}[])) AS "{name}"' for n, (name, kind) in enumerate(types.items()))
    return f"SELECT {picked}", {f"c{n}": column for n, column in enumerate(columns)}


_EITHER = re.compile(r"\{([^{}|]*)\|([^{}|]*)\}")


def either(text: str, has_steps: bool) -> str:
    """A text for a recording with steps or for one without: `{per step|in the recording}` says both."""
    return _EITHER.sub(r"\1" if has_steps else r"\2", text)


def load(path: Path, has_steps: bool = True) -> Query:
    """Read one query file; `has_steps` chooses between the words of its header, see `either`."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    header = []
    for line in lines:
        if not line.startswith("--"):
            break
        header.append(line.removeprefix("--").removeprefix(" "))
    try:
        facts = one_line(tomli.loads(either("\n".join(header), has_steps)))
    except tomli.TOMLDecodeError as error:
        raise UsageError(f"{path}: the header is not TOML ({error}).") from error
    params = {name: Param(**fields) for name, fields in facts.pop("params", {}).items()}
    return Query(
        name=path.stem,
        title=facts.pop("title", path.stem),
        doc=facts.pop("doc", ""),
        cannot=facts.pop("cannot", ""),
        columns=facts.pop("columns", {}),
        params=params,
        extra=facts,
        body="\n".join(lines[len(header) :]).strip(),
    )


def one_line(value: Any) -> Any:
    """The value with every text that is written over several lines on one."""
    if isinstance(value, dict):
        return {key: one_line(inner) for key, inner in value.items()}
    return " ".join(value.split()) if isinstance(value, str) and "\n" in value else value


def load_folder(folder: Path) -> dict[str, Query]:
    """Every query of a folder by name."""
    return {path.stem: load(path) for path in sorted(folder.glob("*.sql"))}
