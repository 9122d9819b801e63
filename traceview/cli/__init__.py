"""The command line: picks the verb, prints errors, decides the exit code.

Invariant: `traceview --help` imports no third-party analysis library, so verbs import what they need when they run.
"""

from __future__ import annotations

import argparse
import importlib
import os
import resource
import signal
import sys
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

from traceview import __version__
from traceview.cli.output import say, silence
from traceview.cli.parsing import COMPLETING, Help, Parser, VerbParser
from traceview.cli.stdin import fetched, spooled
from traceview.errors import InputError, QueryError, TraceviewError, UsageError, denied, meant, named, shortage, unknown

INTERRUPTED = 130
LEAST_FILES = 16
THREAD_BYTES = 100_000_000
"""Addresses that a thread takes for its stack and what it allocates, of which little is ever used."""
VERBS = (
    *("collect", "convert", "report", "sql", "advise", "tune", "schedule", "compare", "baseline", "page", "export"),
    *("study", "classify", "list", "mcp", "completion"),
)

ELSEWHERE = {
    **dict.fromkeys(("query", "select", "shell"), "sql"),
    **dict.fromkeys(("record", "profile", "run", "trace", "start"), "collect"),
    **dict.fromkeys(("diff", "cmp"), "compare"),
    **dict.fromkeys(("show", "summary", "stats", "view", "analyze", "open", "info"), "report"),
    **dict.fromkeys(("html", "serve"), "page"),
    **dict.fromkeys(("recommend", "suggest", "check"), "advise"),
    **dict.fromkeys(("import", "load"), "convert"),
    **dict.fromkeys(("optimize", "search"), "tune"),
    **dict.fromkeys(("bench", "benchmark"), "study"),
}
"""Verbs of other tools for these verbs."""

OPTIONS = ("-h", "--help", "--version", "--debug")
"""Options that belong to no verb."""

EPILOG = """examples:
  traceview collect -- python train.py         record some steps of an unmodified training script
  traceview report trace.json.gz               where the time went
  traceview report trace.json.gz conv layout   convolutions by layer and algorithm, layout conversions
  traceview advise trace.json.gz               what to change, and the potential saving
  traceview compare old.json.gz new.json.gz    what got slower or faster, and why
  traceview export trace.json.gz -o t.pftrace  the timeline for Perfetto, speedscope and other tools
  traceview sql trace.json.gz "SELECT name, sum(dur_ns) FROM kernels GROUP BY ALL ORDER BY 2 DESC LIMIT 10"

`traceview help VERB` explains a verb; `traceview list` names reports, formats and more.

exit codes: 0 done, 1 a check you asked for failed, 2 wrong usage, 3 the input cannot be read;
collect exits with the exit code of its command
"""


def build_parser(verbs: Sequence[str] = VERBS) -> argparse.ArgumentParser:
    """The command line, whole or with these verbs only; each adds its own part."""
    parser = Parser(
        prog="traceview",
        description="Where did my training step go, and which option would give it back?",
        epilog=EPILOG,
        formatter_class=Help,
    )
    parser.add_argument("--version", action="version", version=f"traceview {__version__}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parts = parser.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=VerbParser)
    for verb in verbs:
        module = importlib.import_module(f"traceview.cli.{verb}")
        sub = parts.add_parser(
            verb,
            help=module.HELP,
            description=module.__doc__,
            epilog=module.EXAMPLES,
            formatter_class=Help,
        )
        # SUPPRESS: given after the verb it is set, left out it does not reset the one before the verb.
        sub.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        module.configure(sub)
        sub.set_defaults(run=module.run)
    if COMPLETING in os.environ:
        parts.add_parser("help", help="explain a verb").add_argument("about", choices=verbs, nargs="?")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit code of the process."""
    args = argparse.Namespace(debug=False)
    try:
        return _run(sys.argv[1:] if argv is None else argv, args)
    except BrokenPipeError:
        silence()
        return 0
    except KeyboardInterrupt as stopped:
        say("interrupted")
        return 128 + getattr(stopped, "number", signal.SIGINT)
    except Exception as error:
        if args.debug:
            raise
        return _failed(error, _inputs(args))


def _run(argv: Sequence[str], args: argparse.Namespace) -> int:
    """Read the arguments into `args` and run the verb; output that cannot be written is an error here."""
    # The others' modules take time to load, and only help, completion and a wrong verb speak of them.
    argv = _asked_for(argv)
    is_plain = argv[0] in VERBS and COMPLETING not in os.environ
    parser = build_parser(argv[:1] if is_plain else VERBS)
    if COMPLETING in os.environ:
        import argcomplete

        argcomplete.autocomplete(parser, always_complete_options=False)
    try:
        parser.parse_args(argv, args)
        if args.verb not in ("collect", "tune", "schedule"):
            _check_limits()
        for path in _inputs(args):
            named(path)
        _keep_inputs(args)
        with spooled(args), fetched(args):
            code: int = args.run(args)
        return code
    finally:
        sys.stdout.flush()


def _asked_for(argv: Sequence[str]) -> Sequence[str]:
    """Return the arguments, with `help VERB` (or `help study algorithms`) as `VERB --help`.

    Raises `UsageError` for a word that is not a verb.
    """
    if argv[:1] == ["help"]:
        argv = [*(word for word in argv[1:3] if word != "help"), "--help"]
    if COMPLETING in os.environ:
        return argv or ["--help"]
    options = [*takewhile(lambda word: word.startswith("-"), argv)]
    for word in options:
        if not any(option.startswith(word) for option in OPTIONS):
            hint = meant(word, OPTIONS) or "options of a verb stand behind it: `traceview report INPUT --format json`."
            raise UsageError(f"there is no option {word} before the verb; {hint}".rstrip())
    verb = next(iter(argv[len(options) :]), None)
    if verb is not None and verb not in VERBS:
        if Path(verb).exists():
            raise UsageError(f"there is no verb {verb!r}; did you mean `traceview report {verb}`?")
        if verb in ELSEWHERE:
            raise UsageError(f"there is no verb {verb!r}; did you mean `traceview {ELSEWHERE[verb]}`?")
        raise unknown("verb", verb, VERBS, "`traceview help` names them all.")
    return argv or ["--help"]


def _keep_inputs(args: argparse.Namespace) -> None:
    """Raises `UsageError` where the answer would take the place of the trace it is about."""
    output = getattr(args, "output", None)
    if output == "":
        raise UsageError("the name after -o is empty.")
    if output is None or not Path(output).is_file():
        return
    for path in map(Path, _inputs(args)):
        if path.is_file() and path.samefile(output):
            raise UsageError(f"{output} is the input and would be overwritten; choose another name with -o.")


def _check_limits() -> None:
    """Raises `InputError` below what libraries need to start: they end the process where they get less, or crash.

    Measured with 2 cores: 1.0 GB of addresses were too few and 1.3 GB enough, 4 open files too few and 12 enough.
    """
    least = 1_000_000_000 + THREAD_BYTES * (os.cpu_count() or 1)
    allowed, files = (resource.getrlimit(what)[0] for what in (resource.RLIMIT_AS, resource.RLIMIT_NOFILE))
    if allowed not in (resource.RLIM_INFINITY, -1) and allowed < least:
        here, enough = allowed / 1e9, least / 1e9
        raise InputError(
            f"the address space is limited to {here:.1f} GB, {enough:.1f} GB are needed; raise it with `ulimit -v`."
        )
    if 0 <= files < LEAST_FILES:
        raise InputError(f"only {files} files may be open; raise the limit to {LEAST_FILES} with `ulimit -n`.")


def _failed(error: Exception, inputs: Sequence[str]) -> int:
    """Say in a sentence what went wrong; returns the exit code."""
    chain = _chain(error)
    if any(map(_is_interrupt, chain)):
        say("interrupted")
        return INTERRUPTED
    if isinstance(error, TraceviewError):
        say(str(error), has_lines=isinstance(error, QueryError))
        return error.exit_code
    if said := next(filter(None, (explain(each) for explain in (shortage, denied) for each in chain)), None):
        say(said)
        return InputError.exit_code
    # The last resort: a bug, which should have been a TraceviewError where it happened.
    say(_apology(error, inputs))
    return InputError.exit_code if inputs else UsageError.exit_code


def _is_interrupt(error: BaseException) -> bool:
    """Whether this is a signal, or what a library that was at work made of it."""
    is_said = isinstance(error, RuntimeError) and str(error) == "Query interrupted"
    return is_said or isinstance(error, KeyboardInterrupt | SystemExit) or type(error).__name__ == "InterruptException"


def _chain(error: BaseException | None) -> list[BaseException]:
    """An error and what it came from."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def _inputs(args: argparse.Namespace) -> list[str]:
    """The traces that the verb was to read; none of a verb that reads none."""
    one = getattr(args, "input", None)
    return [one] if isinstance(one, str) else [str(path) for path in getattr(args, "inputs", None) or ()]


def _apology(error: Exception, inputs: Sequence[str]) -> str:
    """Return the message for an unexpected error: what happened and with which file."""
    reason = (str(error).splitlines() or [""])[0][:200]
    where = f" while reading {', '.join(inputs)}" if inputs else ""
    text = f"an unexpected {type(error).__name__}{where}" + (f" ({reason})" if reason else "")
    return f"{text}. This is a bug in traceview; please report it with the output of --debug."
