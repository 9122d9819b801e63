"""Explains kernel, primitive and operator names: category, algorithm, direction, role, and the rule that matched.

Control characters in names are escaped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from traceview.cli.output import emit
from traceview.errors import UsageError
from traceview.render.characters import clean

if TYPE_CHECKING:
    from traceview.classify.rules import Verdict

HELP = "say what a kernel, primitive or operator name means"

EXAMPLES = """examples:
  traceview classify ampere_sgemm_128x64_nn maxwell_scudnn_128x128_relu_small_nn
  traceview classify --why --op aten::cudnn_convolution --with winogradForwardData4x4 volta_sgemm_64x64_nn
  traceview classify --format json < names.txt

Names are kernels (in any spelling a profiler gives them), oneDNN primitives (`convolution,jit:avx2,forward_training`)
or operators (`aten::relu_`, `model/conv1/Conv2D`). With --op, names are kernels of that operator's call. A dash
in tables and --why means that the name does not say; JSON has null there, CSV an empty field.
"""

COLUMNS = ("category", "algorithm", "direction", "role", "library", "rule", "name")
NAME_WIDTH = 100


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview classify`."""
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="names; if none is given, or -, one per line from stdin"
    )
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table", help="default: table")
    parser.add_argument(
        "--why", action="store_true", help="explain: the rule, its reason, and which context would change the answer"
    )
    parser.add_argument("--op", help="the operator that launched the kernels; its callers after ' < ', innermost first")
    parser.add_argument(
        "--with",
        dest="siblings",
        action="append",
        metavar="KERNEL",
        help="another kernel of the same call (repeatable, in launch order)",
    )


def run(args: argparse.Namespace) -> int:
    """Classify the names and print them; returns 0."""
    from traceview.classify import classify_in_context, classify_name

    is_given = args.names and args.names != ["-"]
    names: Sequence[str] = args.names if is_given else [line.rstrip("\r\n") for line in read_stdin() if line.strip()]
    if args.op is None and args.siblings is None:
        verdicts = [classify_name(name) for name in names]
    else:
        verdicts = [classify_in_context(name, args.op, args.siblings) for name in names]
    rows = [row(name, verdict, args.why) for name, verdict in zip(names, verdicts, strict=True)]
    if args.format != "table":
        emit(exact(rows, args.format), None)
    elif args.why:
        emit(["\n".join(f"{explanation(line)}\n" for line in rows)], None)
    else:
        emit([as_table(rows)], None)
    return 0


def read_stdin() -> list[str]:
    """The lines of stdin; a terminal there is a usage error, because the user would wait for nothing."""
    if sys.stdin.isatty():
        raise UsageError("no names given: pass them as arguments, or one per line on stdin.")
    return sys.stdin.buffer.read().decode("utf-8", errors="backslashreplace").split("\n")


def row(name: str, verdict: Verdict, why: bool) -> dict[str, str | None]:
    """One output row; `why` adds the reason and the context that would change the answer."""
    values = {column: getattr(verdict, column, name) for column in COLUMNS}
    values["name"] = name
    return values | ({"why": verdict.why, "context": verdict.context} if why else {})


def printable(text: str | None) -> str:
    """The text with what acts or hides escaped; a dash for None."""
    return "-" if text is None else clean(text)


def as_table(rows: Sequence[dict[str, str | None]]) -> str:
    """Aligned columns; a name longer than the last column is cut in the middle only on a terminal."""
    cut = NAME_WIDTH if sys.stdout.isatty() else None
    cells = [list(COLUMNS), *([shorten(printable(line[column]), cut) for column in COLUMNS] for line in rows)]
    widths = [max(len(line[index]) for line in cells) for index in range(len(COLUMNS) - 1)]
    return "".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(line, widths, strict=False)), f"{line[-1]}\n"])
        for line in cells
    )


def shorten(text: str, width: int | None) -> str:
    """The text with its middle left out when it is longer than `width`; both ends of a kernel's name matter."""
    if width is None or len(text) <= width:
        return text
    return f"{text[: width * 2 // 3]}...{text[-(width // 3) :]}"


def exact(rows: Sequence[dict[str, str | None]], form: str) -> Iterator[str]:
    """The rows for a program; null or empty where the name does not say."""
    from traceview import render
    from traceview.analysis.model import Column

    names = list(rows[0]) if rows else COLUMNS
    columns = [Column(name, "VARCHAR", "") for name in names]
    return render.renderer(form).stream(columns, [[tuple(line.values()) for line in rows]])


def explanation(line: dict[str, str | None]) -> str:
    """A few lines that say what a name means and why."""
    facts = ", ".join(f"{key} {printable(line[key])}" for key in COLUMNS[1:5] if line[key])
    lines = [
        printable(line["name"]),
        f"  is       {printable(line['category'])}" + (f" ({facts})" if facts else ""),
        f"  rule     {printable(line['rule'])}",
        f"  because  {printable(line['why'])}",
    ]
    if line["context"]:
        lines.append(f"  unless   {printable(line['context'])}")
    return "\n".join(lines)
