"""Share of device time that has an operator, a module and a line of the user's code, trace by trace.

python benchmarks/places.py TRACE...      a Markdown table; a trace that cannot be read is a row that says so
"""

from __future__ import annotations

import argparse
from pathlib import Path

from traceview import store
from traceview.errors import TraceviewError

SHARES = """
    SELECT sum(b.step_alone_ns), sum(b.step_alone_ns) FILTER (b.op_id IS NOT NULL),
        sum(b.step_alone_ns) FILTER (b.layer IS NOT NULL), sum(b.step_alone_ns) FILTER (l.op_id IS NOT NULL)
    FROM busy b LEFT JOIN (SELECT DISTINCT op_id FROM source_lines WHERE line IS NOT NULL) l ON l.op_id = b.op_id
    WHERE b.is_counted OR b.is_carried
"""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="+")
    names = parser.parse_args().traces
    print("| trace | device time | operator | module | line |\n|---|---|---|---|---|")
    for name in names:
        try:
            with store.open_capture(Path(name), store.Options(threads=1, own_queries=True)) as connection:
                ((whole, *parts),) = connection.execute(SHARES).fetchall()
        except TraceviewError as error:
            print(f"| {Path(name).name} | {error} | | | |")
            continue
        cells = [f"{100 * (part or 0) / whole:.1f} %" if whole else "none" for part in parts]
        print(f"| {Path(name).name} | {(whole or 0) / 1e6:.3f} ms | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
