"""The prompt of `traceview sql`: completion by what stands before, a cap on rows, and a pager for long answers."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from traceview.cli.output import emit, say
from traceview.cli.values import number
from traceview.errors import QueryError, UsageError
from traceview.paths import user_state

if TYPE_CHECKING:
    from typing import Any

ROWS = 100
"""Rows of an answer that are shown until `.limit` says otherwise."""
DOT_COMMANDS = (".tables", ".schema", ".limit", ".help", ".quit")
KEYWORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "LIMIT", "JOIN", "LEFT JOIN", "USING", "ON", "AS", "WITH"),
    *("DISTINCT", "HAVING", "AND", "OR", "NOT", "NULL", "DESC", "CASE", "WHEN", "THEN", "ELSE", "END", "BETWEEN"),
    *("LIKE", "ILIKE", "FILTER", "OVER", "PARTITION BY", "QUALIFY", "UNION ALL", "EXPLAIN", "DESCRIBE", "SUMMARIZE"),
)
FUNCTIONS = ("count(*)", "sum(", "avg(", "min(", "max(", "median(", "stddev_samp(", "quantile_cont(", "coalesce(")
_WORD = re.compile(r"[\w.]*$")
_ALIAS = (
    r"(?!(?:WHERE|JOIN|LEFT|RIGHT|INNER|FULL|CROSS|ASOF|NATURAL|SEMI|ANTI|POSITIONAL|ON|USING|GROUP|ORDER|LIMIT|HAVING"
    r"|QUALIFY|WINDOW|UNION|EXCEPT|INTERSECT|SELECT|AS)\b)[a-z_]\w*"
)
_SOURCE = re.compile(rf"(?i)\b(?:FROM|JOIN)\s+([a-z_]\w*(?:\.[a-z_]\w*)?)(?:\s+(?:AS\s+)?({_ALIAS}))?")
_TABLE_NEXT = re.compile(r"(?i)\b(?:FROM|JOIN|DESCRIBE|SUMMARIZE)\s+(?:[\w.]+(?:\s+\w+)?\s*,\s*)*[\w.]*$")
HELP_TEXT = f""".tables [all]    the tables that most questions need, or every table and view
.schema [TABLE]  columns, types and meanings
.limit N         show at most N rows of an answer (0: all; at the start {ROWS})
.help            this list
.quit            leave (also Ctrl-D)
SELECT ... ;     a query, over as many lines as you like, ends with a semicolon
Tab completes tables after FROM and columns of the tables that are read.
"""


def words(before: str, after: str, tables: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the words that the one before the cursor could become. `tables`: their columns by name."""
    match = _WORD.search(before)
    typed = match[0] if match else ""
    if before.lstrip().startswith("."):
        return _beginning(typed, tables if before.lstrip().startswith(".schema ") else DOT_COMMANDS)
    if _TABLE_NEXT.search(before):
        return _beginning(typed, tables)
    read: dict[str, str] = {}
    for name, alias in _SOURCE.findall((before + after).lower()):
        if name in tables:
            read |= {alias or name: name, name: name}
    table, dot, _ = typed.rpartition(".")
    if dot:
        return _beginning(typed, [f"{table}.{name}" for name in tables.get(read.get(table.lower(), ""), ())])
    columns = dict.fromkeys(name for table in (read.values() or tables) for name in tables[table])
    return _beginning(typed, [*columns, *read, *FUNCTIONS, *KEYWORDS])


def _beginning(typed: str, names: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name.lower().startswith(typed.lower())]


class _Completer(Completer):
    def __init__(self, tables: Mapping[str, Sequence[str]]) -> None:
        self.tables = tables

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """Called by the line editor."""
        before = document.text_before_cursor
        typed = _WORD.search(before)
        for word in words(before, document.text_after_cursor, self.tables):
            yield Completion(word, -len(typed[0]) if typed else 0)


def session(tables: Mapping[str, Sequence[str]]) -> PromptSession[Any]:
    """A line editor with history, completion, and Enter that waits for the semicolon."""
    return PromptSession(
        history=_history(),
        completer=_Completer(tables),
        complete_while_typing=False,
        multiline=Condition(lambda: not _is_complete(get_app().current_buffer.text)),
        prompt_continuation="      ...> ",
    )


def ask(editor: PromptSession[Any], answer: Callable[[str, int], Iterable[str]]) -> None:
    """Ask and answer until `.quit` or Ctrl-D; errors are said and forgotten. `answer(text, rows)` gives the pieces."""
    limit = ROWS
    emit(["End a query with a semicolon; .help shows the commands.\n"], None)
    while True:
        try:
            text = editor.prompt("traceview> ").strip()
            if text in (".quit", ".exit"):
                return
            if text == ".help":
                emit([HELP_TEXT], None)
            elif text.split()[:1] == [".limit"]:
                limit = _limit(text)
            elif text.strip("; \n"):
                show("".join(answer(text, limit)))
        except EOFError:
            return
        except KeyboardInterrupt:
            say("interrupted")
        except UsageError as error:
            say(str(error), has_lines=isinstance(error, QueryError))


def _limit(text: str) -> int:
    rows = number(text.removeprefix(".limit").strip())
    if rows is None or rows < 0:
        raise UsageError(".limit needs a number of rows; 0 shows all.")
    return rows


def show(text: str) -> None:
    """Print an answer; on a terminal that it does not fit, through the pager ($PAGER, else less)."""
    lines = text.count("\n")
    pager = _pager() if sys.stdout.isatty() and lines > shutil.get_terminal_size().lines - 2 else []
    if not pager:
        emit([text], None)
        return
    # F: not where it fits, R: colours, S: long lines are not wrapped, X: the answer stays on the screen.
    environment = {"LESS": "FRSX", "LESSCHARSET": "utf-8", **os.environ}
    try:
        process = subprocess.Popen(pager, stdin=subprocess.PIPE, env=environment)
    except OSError:
        emit([text], None)
        return
    # Who quits the pager early has read enough; Ctrl-C is for the pager.
    with suppress(BrokenPipeError, KeyboardInterrupt):
        process.communicate(text.encode("utf-8", errors="surrogateescape"))
    while process.poll() is None:
        with suppress(KeyboardInterrupt):
            process.wait()


def _pager() -> list[str]:
    """The user's pager; none where it is set to nothing, or cannot be read."""
    with suppress(ValueError):
        return shlex.split(os.environ.get("PAGER", "less"))
    return []


def _is_complete(text: str) -> bool:
    text = text.strip()
    return not text or text.startswith(".") or text.endswith(";")


def _history() -> History:
    """Beside the user's other state; kept in memory only where that place cannot be written."""
    try:
        place = user_state() / "sql_history"
        place.open("a").close()
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(place))
