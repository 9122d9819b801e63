"""A capture that is asked a few things: only the views are made that its queries read, as the verbs do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from traceview import store
from traceview.store import Options, graph, views

ONE = Options(threads=1)
"""Small tables gain nothing from several threads, which cost a tenth of the processor time."""
HELD = """SELECT schema_name || '.' || table_name FROM duckdb_tables()
UNION ALL SELECT schema_name || '.' || view_name FROM duckdb_views() WHERE NOT internal"""


def ask(path: Path, query: str) -> list[tuple[Any, ...]]:
    """The rows of one query over any input; no more views are made than it reads."""
    with store.open_capture(path, ONE, query) as connection:
        return connection.execute(query).fetchall()


class Asked:
    """Answers like a connection to a capture. Anything but `execute` works on one with every view."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._texts: list[str] = []
        self._held: set[str] = set()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._is_whole = False

    def execute(self, query: str, parameters: Any = None) -> duckdb.DuckDBPyConnection:
        """The answer to a query. One that makes something gets all views, for what is to come reads what it made."""
        if not query.lstrip().upper().startswith(("SELECT", "FROM", "WITH", "--", "DESCRIBE")):
            return self._whole().execute(query, parameters)
        if not self._is_whole and not self._add(query):
            self._texts.append(query)
            self._connect(" ; ".join(self._texts))
        assert self._connection
        try:
            return self._connection.execute(query, parameters)
        except duckdb.CatalogException:  # A name in another place than behind FROM and JOIN.
            return self._whole().execute(query, parameters)

    def _add(self, query: str) -> bool:
        """Make the views that a query needs more than those before; False where they rest on what is not there."""
        if self._connection is None:
            return False
        missing = [name for name in graph.resting_on(query, self._held) if name not in self._held]
        read = {name: graph.sources(graph.text(name)) for name in missing}
        rest = graph.sources(query).union(*read.values())
        if not {name for name in rest if "." in name} <= self._held:
            return False
        for name in missing:
            is_shared = graph.is_materialized(name) and any(name in sources for sources in read.values())
            self._connection.execute(f"CREATE {'TABLE' if is_shared else 'VIEW'} {name} AS {graph.text(name)}")
            self._held.add(name)
        return True

    def _connect(self, asked: str | None) -> duckdb.DuckDBPyConnection:
        self.close()
        self._connection = views.connect(self._folder, asked, ONE)
        self._held = {name.removeprefix("main.") for (name,) in self._connection.execute(HELD).fetchall()}
        self._is_whole = asked is None
        return self._connection

    def _whole(self) -> duckdb.DuckDBPyConnection:
        return self._connection if self._connection and self._is_whole else self._connect(None)

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._connection:
            self._connection.close()

    def __enter__(self) -> Asked:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._whole(), name)


def opened(folder: Path, text: str | bytes, name: str = "log") -> Asked:
    """The capture of a file with this text."""
    file = folder / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return Asked(store.convert([file], folder / f"{name}.capture"))


def rows(connection: Asked | duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    """Every row of a query."""
    return connection.execute(query).fetchall()
