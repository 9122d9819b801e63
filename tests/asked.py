"""A capture that is asked a few things: only the views are made that its queries read, as the verbs do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from traceview.store import graph, views


class Asked:
    """Answers like a connection to a capture. Anything but `execute` works on one with every view."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._texts: list[str] = []
        self._read: frozenset[str] = frozenset()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._is_whole = False
        self.execute("FROM raw.captures")  # A damaged capture is found out at once.

    def execute(self, query: str, parameters: Any = None) -> duckdb.DuckDBPyConnection:
        """The answer to a query. One that makes something gets all views, for what is to come reads what it made."""
        if not query.lstrip().upper().startswith(("SELECT", "FROM", "WITH", "--", "DESCRIBE")):
            return self._whole().execute(query, parameters)
        read = graph.sources(query)
        if self._connection is None or not (self._is_whole or read <= self._read):
            self._texts.append(query)
            self._read |= read
            self._connect(" ; ".join(self._texts))
        assert self._connection
        try:
            return self._connection.execute(query, parameters)
        except duckdb.CatalogException:  # A name in another place than behind FROM and JOIN.
            return self._whole().execute(query, parameters)

    def _connect(self, asked: str | None) -> duckdb.DuckDBPyConnection:
        self.close()
        self._connection = views.connect(self._folder, asked)
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
