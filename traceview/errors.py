"""What can go wrong, and the exit code each kind of failure has.

The one law: the text of an error is one or two sentences that say what to do. Only `cli/` prints them.
"""

from __future__ import annotations


class TraceviewError(Exception):
    """Base of every expected failure; `exit_code` is what the process returns."""

    exit_code = 2


class UsageError(TraceviewError):
    """The command line or the query is wrong (exit code 2)."""


class InputError(TraceviewError):
    """A trace, capture or folder that cannot be read (exit code 3)."""

    exit_code = 3


class CommandFailed(TraceviewError):
    """The profiled command could not be run; the exit code is what a shell would give (127 not found, 126 not run)."""

    def __init__(self, reason: str, exit_code: int) -> None:
        super().__init__(reason)
        self.exit_code = exit_code


CORRUPT = "Corrupt database file"
"""What DuckDB says of a block of a database that is not what was written."""
