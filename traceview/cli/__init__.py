"""The command line: picks the verb, prints errors, decides the exit code.

Invariant: `traceview --help` imports no third-party analysis library, so verbs import what they need when they run.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from traceview import __version__
from traceview.errors import CORRUPT, InputError, TraceviewError, UsageError

FULL = (errno.ENOSPC, errno.EDQUOT)
VERBS = ("collect", "convert", "report", "sql", "advise", "compare", "classify", "list")

EPILOG = """examples:
  traceview collect -- python train.py         capture some steps of an unmodified training script
  traceview report trace.json.gz               where the time went
  traceview report trace.json.gz conv layout   convolutions by layer and algorithm, layout changes
  traceview advise trace.json.gz               what to change, and at most how much it can give
  traceview compare old.json.gz new.json.gz    what differs, and how much of the difference each part is
  traceview sql trace.json.gz "SELECT name, sum(dur_ns) FROM kernels GROUP BY ALL ORDER BY 2 DESC LIMIT 10"

exit codes: 0 done, 1 a check you asked for failed, 2 wrong usage, 3 the input cannot be read; collect: its command's
"""


def build_parser(verbs: Sequence[str] = VERBS) -> argparse.ArgumentParser:
    """The command line, whole or with these verbs only; each adds its own part."""
    parser = argparse.ArgumentParser(
        prog="traceview",
        description="Where did my training step go, and which option would give it back?",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"traceview {__version__}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parts = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in verbs:
        module = importlib.import_module(f"traceview.cli.{verb}")
        sub = parts.add_parser(
            verb,
            help=module.HELP,
            description=module.__doc__,
            epilog=module.EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        # SUPPRESS: given after the verb it is set, left out it does not reset the one before the verb.
        sub.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        module.configure(sub)
        sub.set_defaults(run=module.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit code of the process."""
    argv = sys.argv[1:] if argv is None else argv
    # The others' modules take time to load, and only help, completion and a wrong verb speak of them.
    is_plain = argv and argv[0] in VERBS and "_ARGCOMPLETE" not in os.environ
    parser = build_parser(argv[:1] if is_plain else VERBS)
    if "_ARGCOMPLETE" in os.environ:
        import argcomplete

        argcomplete.autocomplete(parser)
    args = parser.parse_args(argv)
    try:
        code: int = args.run(args)
        sys.stdout.flush()
        return code
    except TraceviewError as error:
        if args.debug:
            raise
        print(f"traceview: {_harmless(str(error))}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        # The reader of our output is gone (`| head`): point stdout at nothing so that the exit stays silent.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("traceview: interrupted", file=sys.stderr)
        return 130
    except Exception as error:
        if args.debug:
            raise
        if isinstance(error, OSError) and error.errno in FULL:
            print(f"traceview: nothing more can be written: {error.strerror}.", file=sys.stderr)
            return InputError.exit_code
        if _forgot(error, _inputs(args)):
            return InputError.exit_code
        # The last resort: a fault of ours, which should have been a TraceviewError where it happened.
        print(f"traceview: {_apology(error, _inputs(args))}", file=sys.stderr)
        return InputError.exit_code if _inputs(args) else UsageError.exit_code


def _forgot(error: Exception, inputs: Sequence[str]) -> bool:
    """Whether what was kept of the inputs was at fault: damaged after it was made, and without it the command works."""
    if CORRUPT not in str(error) or not inputs:
        return False
    from traceview import store

    for path in inputs:
        store.forget(Path(path))
    text = f"what was kept of {_harmless(', '.join(inputs))} was damaged and is removed; run the command again."
    print(f"traceview: {text}", file=sys.stderr)
    return True


def _inputs(args: argparse.Namespace) -> list[str]:
    """The traces that the verb was to read; none of a verb that reads none."""
    one = getattr(args, "input", None)
    return [one] if isinstance(one, str) else [str(path) for path in getattr(args, "inputs", None) or ()]


def _apology(error: Exception, inputs: Sequence[str]) -> str:
    """What happened and with which file, in printable characters: the text may come from a trace."""
    reason = (str(error).splitlines() or [""])[0][:200]
    where = f" while reading {', '.join(inputs)}" if inputs else ""
    text = f"an unexpected {type(error).__name__}{where}" + (f" ({reason})" if reason else "")
    return f"{_harmless(text)}. This is a fault of traceview: --debug shows where; please report it."


def _harmless(text: str) -> str:
    """The same lines without what a terminal would obey: paths and texts of a trace stand in messages."""
    from traceview.render.characters import clean

    return "\n".join(map(clean, text.split("\n")))
