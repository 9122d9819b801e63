"""Tries options on a training command without changing it, and proves which make its steps faster.

First some steps are recorded, and the options that `advise` names for them are tried (or those of --try): each in fresh
runs without a profiler, in pairs with runs as they are, until --budget is spent. Clearly slower options are dropped,
the others combined, and the best is compared with two runs of the base in each of 6 to 24 fresh rounds (12 where the
budget has room and runs differ little). If those two seem to differ, the machine is too noisy and nothing is claimed.

Loss and parameters after the same steps with the same seeds show whether the numbers stayed the same. The script is not
changed, each run ends after a few steps, and the output of runs goes to files in the folder of results, which `report`,
`sql` and `page` read like any capture.
"""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from traceview import render
from traceview.cli import studies, values
from traceview.cli.output import DEFAULT_LIMIT, emit, say
from traceview.errors import CHECK_FAILED, TraceviewError, UsageError
from traceview.paths import from_here
from traceview.recording.launch import Stopped, place, shell_code, stoppable

if TYPE_CHECKING:
    from traceview.analysis.model import Report
    from traceview.experiments.tune.tuning import Job

HELP = "try options on a training command, and prove which make it faster"

EXAMPLES = """examples:
  traceview tune -- python train.py                          what advise names for this script, within 10 minutes
  traceview tune --try layout,threads,malloc -- python train.py    or these; `traceview list options` names them
  traceview tune --numerics equal --skip threads -- python train.py    bit-exact options only, without thread counts
  traceview tune --plan plan.json -- python train.py         also a plan of `traceview schedule`
  traceview tune --budget 30m --copy -- python train.py      each run in a fresh copy of this folder
  traceview tune --env OUT={run} -- python train.py          a folder of its own for what each run writes
  traceview tune -o RUNS --resume                            continue after Ctrl-C or a crash
  traceview tune -o RUNS --resume --trust                    also what was made by others or elsewhere
  traceview tune --report RUNS                               print the answer again
  traceview tune --apply RUNS -- python train.py             run it with the best options
  traceview tune --fail-under 1.1 -- python train.py         exit code 1 unless the best makes it 1.1 times as fast

exit codes: 0 done, 1 with --fail-under, else that of the command where it fails without any option; with --apply that
of the command
"""

COMPARED = ("answer", "settings", "difference")
"""Sections of the comparison of base and best that are printed."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview tune`."""
    parser.add_argument(
        "--try", dest="tried", type=values.words, default=(), metavar="OPTIONS", help="options or groups to try"
    )
    parser.add_argument(
        "--skip", dest="skipped", type=values.words, default=(), metavar="OPTIONS", help="options or groups not to try"
    )
    parser.add_argument(
        "--plan", metavar="PLAN", help="also try a plan of traceview schedule, alone and with the others"
    )
    parser.add_argument(
        "--numerics", choices=("close", "equal"),
        help="equal: drop options that change any bit of loss or parameters (default close: last digits may differ)",
    )  # fmt: skip
    parser.add_argument(
        "--budget", type=values.duration, metavar="TIME", help="for all runs (default 10m, or that of --resume's runs)"
    )
    parser.add_argument(
        "--limit-steps", type=_steps, metavar="N",
        help="time N steps in each run, then end it (default: as many as take 2 seconds); 0: runs end by themselves",
    )  # fmt: skip
    parser.add_argument("--discard", type=_steps, metavar="N", help="first steps to leave out (default 1 or 2)")
    parser.add_argument("--copy", action="store_true", help="run in fresh copies of this folder")
    parser.add_argument(
        "--env", action="append", default=[], type=values.setting, metavar="NAME=VALUE",
        help="set a variable for every run; {run} in it becomes an empty folder, one for each run",
    )  # fmt: skip
    earlier = parser.add_mutually_exclusive_group()
    earlier.add_argument("--report", type=Path, metavar="RUNS", help="only show the result of these runs")
    earlier.add_argument(
        "--apply", type=Path, metavar="RUNS", help="run the command with the best options found by these runs"
    )
    studies.add_result_options(parser, "named after script and time", trusted="--resume or --apply")
    parser.add_argument(
        "--fail-under", type=values.factor, metavar="X",
        help="exit code 1 unless the best is shown to be faster, and estimated to be X times as fast",
    )  # fmt: skip
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND ...", help="what to run")


def run(args: argparse.Namespace) -> int:
    """Search, or show or apply what a search found."""
    from traceview.experiments import pairs, results
    from traceview.experiments.tune import tuning

    command: list[str] = args.command[1:] if args.command[:1] == ["--"] else args.command
    if args.resume and (args.report or args.apply):
        raise UsageError("--resume goes on with the folder of -o; it cannot be combined with --report or --apply.")
    for folder in filter(None, (args.report, args.apply)):
        tuning.described_runs(folder)
    if args.report:
        return _shown(args, args.report)
    if args.apply:
        if not command:
            raise UsageError("no command given: traceview tune --apply RUNS -- python train.py")
        with stoppable():
            return shell_code(tuning.apply(args.apply, command, args.trust, say))
    if args.resume:
        folder = studies.place(args.output, True, "tune")
        job = tuning.resumed(folder.absolute(), command, say, args.env, args.trust)
        _refuse_changes(args, job, folder)
        job = replace(job, budget_s=args.budget or job.budget_s)
    else:
        job = _job(args, command)
    held = results.hold(job.folder)
    try:
        with stoppable():
            tuning.tune(job)
    except Stopped as stopped:
        if results.is_begun(job.folder):
            n_runs = len(results.rows(job.folder, pairs.TABLE))
            runs = f"{n_runs} run{'s' if n_runs > 1 else ''}" if n_runs else "the capture of the baseline"
            say(f"interrupted; kept so far: {runs}; go on with -o {_word(job.folder)} --resume")
        else:
            say("interrupted before anything was measured")
            if not args.resume:
                results.discard(job.folder)
        return shell_code(-stopped.number)
    except TraceviewError:
        if not args.resume and not (job.folder / "base" / "capture.json").exists():
            results.discard(job.folder)
        raise
    del held
    say(f"everything is in {from_here(job.folder)}: traceview tune --report {_word(job.folder)}")
    return _shown(args, job.folder)


def _refuse_changes(args: argparse.Namespace, job: Job, folder: Path) -> None:
    """Raise `UsageError` for an option that is not as in the session to go on with."""
    given = {
        "--try": ({*args.tried} or None, {*job.tried}), "--skip": ({*args.skipped} or None, {*job.skipped}),
        "--plan": (args.plan, job.plan), "--numerics": (args.numerics and args.numerics == "equal", job.only_equal),
        "--limit-steps": (args.limit_steps, job.steps), "--discard": (args.discard, job.discard),
        "--copy": (args.copy or None, job.copies),
    }  # fmt: skip
    if changed := [name for name, (now, before) in given.items() if now not in (None, before)]:
        raise UsageError(f"{changed[0]} cannot change within {folder}; begin another folder.")


def _job(args: argparse.Namespace, command: list[str]) -> Job:
    from traceview.experiments import results
    from traceview.experiments.tune.options import named
    from traceview.experiments.tune.search import NULL
    from traceview.experiments.tune.tuning import Job

    if not command:
        raise UsageError("no command given: traceview tune -- python train.py")
    tried, skipped = ([option.name for option in named({*words} - {NULL})] for words in (args.tried, args.skipped))
    if tried and not {*tried} - {*skipped}:
        raise UsageError("--skip leaves out all that --try names: there is nothing to try.")
    folder = args.output or place(None, command, "tune")
    results.refuse(folder)
    if results.is_begun(folder):
        raise UsageError(f"{folder} holds runs already: go on with them with --resume, or choose another name with -o.")
    return Job(
        command, place(folder, command), say, args.tried, args.budget or 600.0, tuple(args.env), args.copy,
        args.limit_steps, args.discard, skipped=args.skipped, plan=args.plan, only_equal=args.numerics == "equal",
    )  # fmt: skip


def _shown(args: argparse.Namespace, folder: Path) -> int:
    """Print the answer; 1 where `--fail-under` says so, else 0."""
    renderer = render.renderer(args.format)
    reports = [studies.answered(folder, "tune")]
    compared = _compared(folder, renderer.FOR_PEOPLE)
    if compared:
        reports.append(compared)
    emit([renderer.render_all(reports)], None)
    if args.fail_under is None:
        return 0
    best = _best(reports[0])
    if best is not None and best >= args.fail_under:
        return 0
    say("no best was shown to be faster" if best is None else f"the best is {best:.2f} times as fast")
    return CHECK_FAILED


def _best(report: Report) -> float | None:
    """How many times as fast the best is, where it was shown to be faster."""
    section = next(section for section in report.sections if section.name == "best")
    at = [column.name for column in section.columns].index("shown")
    return section.rows[0][at] if section.rows else None


def _compared(folder: Path, for_people: bool) -> Report | None:
    """Compare where the time went in the base and the best, out of a capture of each."""

    from traceview import store
    from traceview.analysis import compare, reports
    from traceview.experiments import inside

    paths = [inside.within(folder, name) for name in ("base", "best")]
    if not all((path / "capture.json").exists() for path in paths):
        return None
    runs = []
    for path in paths:
        with store.open_capture(path) as connection:
            runs.append(compare.measure(connection, path.name, None, not compare.has_steps(connection)))
    done = compare.compare(runs)
    if not for_people:
        return done
    brief = reports.cut(compare.in_words(done), DEFAULT_LIMIT, compare.cut_section)
    say(f"all of the comparison: traceview compare {_word(paths[0])} {_word(paths[1])}")
    return replace(brief, sections=tuple(part for part in brief.sections if part.name in COMPARED))


def _word(folder: Path) -> str:
    """A folder as one word of a command line."""
    return shlex.quote(str(from_here(folder)))


_steps = values.at_least(0, "is not a number of steps", 999_999_999)
