"""The program: `traceview`, which `python -m traceview` is too.

The one law: it leaves at once. Taking an interpreter with DuckDB in it apart needs 40 ms, a tenth of a report.
"""

import atexit
import os
import sys

from traceview.cli import main


def program() -> int:
    """Run the command line; the process ends with its exit code when everything else that waits for the end is done."""
    code = 1

    def leave() -> None:
        nonlocal code
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BrokenPipeError:
                pass
            except OSError:
                code = code or 1
        os._exit(code)

    # What is registered first is called last.
    atexit.register(leave)
    try:
        code = main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1 if end.code else 0
        raise
    return code


if __name__ == "__main__":
    sys.exit(program())
