"""Tries options on a command that is not changed: a capture of it says which, fresh runs say what they give.

Invariant: before the first run it is said what will be run, how often and where; whatever ends the program, what was
measured is kept.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, get_type_hints

from traceview import store
from traceview.analysis import advice, advice_path
from traceview.analysis.model import AT_LEAST_PCT
from traceview.errors import CHECK_FAILED, CommandFailed, InputError, TraceviewError, UsageError
from traceview.experiments import command as commands
from traceview.experiments import inside, machine, quiet, recorded, records, results, trust
from traceview.experiments.command import TOO_LONG, Failed, Limits, Timed, next_log
from traceview.experiments.pairs import Runner, new_seed
from traceview.experiments.results import Journal, described
from traceview.experiments.tune import options as trials
from traceview.experiments.tune import outcome, plan_option
from traceview.experiments.tune.options import Facts, Option
from traceview.experiments.tune.outcome import Bound
from traceview.experiments.tune.search import LEAST_ROUNDS, NULL, Found, Search
from traceview.experiments.verdict import FASTER, LEAST_PAIRS
from traceview.paths import from_here, temporary_folder, user_cache
from traceview.recording.launch import shell_code

BASE, BEST = "base", "best"
"""Recordings without options, and with the best."""
OUTPUT = "output"
RUN_FOLDER = "{run}"
"""In a value of --env: a folder of each run's own, removed after it."""
UNKNOWN_BOUND = 1.1
"""As which a rule counts, in the order of options, that found something and names no time."""
SLOW_S, STEPS_S = 1.0, 2.0
"""A step that takes longer is slow, and one is discarded; how long the timed steps of a run are to take about."""
FEWEST, MOST = 3, 30
FEWEST_RUNS = LEAST_ROUNDS * 3 + LEAST_PAIRS * 3
"""Runs that a claim about a single option takes: of screening, and final rounds."""
PLAIN_DISCARD = 2
PREFETCHED = 2
"""Batches that each worker has ready before the program asks, as PyTorch's DataLoader does."""
LOADER = "loader_workers"
"""The option that starts workers."""
RANK = {"device": str | None, "cores": int | None, "workers": int | None}
CAPTURED = {
    **dict.fromkeys(("framework", "framework_version"), str | None),
    "ranks": tuple[dict[str, Any], ...] | None, "cost": dict[str, Any] | None,
}  # fmt: skip
"""Types of what is used of the `capture.json` of a recording."""


NOTHING = Option(
    NULL, "Nothing is changed", NULL, trials.ANY, "equal", "None.", "Never.", (), {trials.ANY: "nothing"}, ""
)
"""The null option: any gain it shows is noise."""


@dataclass(frozen=True)
class Job:
    """Command to be tuned, and how."""

    command: list[str]
    folder: Path
    """Folder of the results."""
    say: Callable[[str], None]
    tried: tuple[str, ...] = ()
    """Names or groups of options; none: those that advice names."""
    budget_s: float = 600
    environment: tuple[tuple[str, str], ...] = ()
    copies: bool = False
    steps: int | None = None
    """Steps that are timed in each run; None: as many as take about STEPS_S. 0: the command ends by itself."""
    discard: int | None = None
    seed: int | None = 1
    skipped: tuple[str, ...] = ()
    """Names or groups of options that are not tried."""
    plan: str | None = None
    """A plan of `traceview schedule` that is tried beside the options."""
    only_equal: bool = False
    """Whether an option is given up that changes any bit of loss or parameters."""
    order_seed: int = field(default_factory=new_seed)
    """Seed of the order of runs within rounds."""

    def settings(self) -> dict[str, Any]:
        """Return the settings that a session that resumes needs."""
        noted = asdict(replace(self, folder=Path(), say=_silent))
        noted["environment"] = dict(self.environment)
        return {name: value for name, value in noted.items() if name not in ("folder", "say", "command")}


def _silent(text: str) -> None:
    pass


def described_runs(folder: Path) -> dict[str, Any]:
    """Describe earlier runs. Raises `InputError` where there are none, `UsageError` for a study."""
    told = described(folder)
    if told.get("kind") != "tune":
        raise UsageError(f"{folder} was made by traceview {told.get('kind')}, not by traceview tune.")
    return told


def resumed(
    folder: Path,
    command: Sequence[str],
    say: Callable[[str], None],
    environment: Sequence[tuple[str, str]] = (),
    trusts: bool = False,
) -> Job:
    """The job of an earlier session, to go on with. Raises `UsageError` where the command has to be given again, and
    for results of somebody else that the user does not trust."""
    told = described_runs(folder)
    known = records.checked(told.get("settings") or {}, _kinds(), f"{folder / trust.ABOUT}: settings", is_whole=True)
    words = results.command(told, command)
    if told.get("folder") != Path.cwd().name:
        raise UsageError(f"these runs were made in a folder called {told.get('folder')}; go there to resume them.")
    noted = known.pop("environment", {})
    for name, value in environment:
        if value != noted.get(name) and "***" not in noted.get(name, ""):
            raise UsageError(f"--env {name} cannot change within {from_here(folder)}; begin another folder.")
    pairs = noted | dict(environment)
    unnamed = [name for name in pairs if not name or "=" in name]
    if unnamed:
        raise InputError(
            f"{folder / trust.ABOUT}: settings: environment has {unnamed[0]!r}, not the name of a variable."
        )
    hidden = [name for name, value in pairs.items() if "***" in value]
    if hidden:
        raise UsageError(f"the value of {hidden[0]} was not kept; give it again: --env {hidden[0]}=VALUE.")
    trust.allow(folder, trusts, say, words, pairs)
    if known.get("plan") and not inside.exists(folder, trust.PLAN):
        raise InputError(f"{folder / trust.PLAN}, which these runs try, is missing; begin anew with another folder.")
    return Job(words, folder, say, environment=tuple(pairs.items()), **known)


def _kinds() -> dict[str, Any]:
    """The types of what `Job.settings` notes."""
    kinds = get_type_hints(Job) | {"environment": dict[str, str]}
    return {name: kind for name, kind in kinds.items() if name not in ("folder", "say", "command")}


def tune(job: Job) -> Found:
    """Run the whole search, and leave its answer in the folder."""
    if job.copies:
        commands.check_size(Path.cwd(), job.folder)
    plan_option.keep(job.folder, job.plan)
    began = time.monotonic()
    facts, bounds, capture = _base(job)
    # The best is recorded too, in the end.
    recordings_s = 2 * max(time.monotonic() - began, capture["first_run_ns"] / 1e9)
    earlier = _earlier(job.folder)
    about = {"kind": "tune", "command": job.command, "settings": job.settings(), "machine": machine.facts()}
    journal = Journal(job.folder, {**about, **capture, "recorded": earlier.get("recorded")})
    chosen, others = _options(job, facts, bounds)
    if not chosen:
        raise UsageError(_nothing(job, others))
    if not journal.answered("tune_options"):
        journal.answer({"tune_options": outcome.unfinished(chosen, bounds, facts, others)})
    limits = _limits(job, capture, chosen)
    known = {option.name: option for option in chosen if option is not NOTHING}

    def environment(names: Sequence[str]) -> dict[str, str]:
        """This process's with what some options change."""
        return trials.environment([known[name] for name in names if name in known], facts, os.environ)

    search_s = max(job.budget_s - recordings_s, 0.0)
    job.say(_plan(job, chosen, limits))
    if text := _too_small(search_s, recordings_s, capture["first_run_ns"] / 1e9):
        job.say(text)
    runs = _Runs(job, limits)
    runner = Runner(journal, lambda names: runs.measure(environment(names)), job.order_seed)
    asked = {*job.tried} & {option.name for option in chosen}
    judge = outcome.forbidden(asked, job.only_equal)
    promised = {name: bound.speedup for name, bound in bounds.items() if bound.speedup}
    search = Search(runner, int(search_s * 1e9), judge, job.say, capture["first_run_ns"], promised)
    found = search.run(chosen)
    rows = outcome.rows(found, bounds, facts, others)
    journal.answer({"tune_options": rows})
    failed = runner.failed_base()
    if failed:
        reason = f"the command gives no times without any option either: {failed.get('reason')}"
        raise Failed(reason, shell_code(int(failed.get("exit_code") or 0)) or InputError.exit_code)
    if not any(row.get("verdict") == FASTER for row in rows) and (power := outcome.visible(found)):
        job.say(f"nothing was shown to be faster; {power.sentence()}")
    _explain(job, journal, found, facts, environment)
    journal.describe(finished=True)
    journal.finish()
    if earlier.get("finished") is not True:
        outcome.learn(rows, job.folder / BASE)
    return found


def _earlier(folder: Path) -> dict[str, Any]:
    """Describe the runs of an earlier session; empty where there was none."""
    return described(folder) if (folder / "capture.json").exists() else {}


def _nothing(job: Job, others: Sequence[tuple[Option, str]]) -> str:
    """Why there is nothing to try."""
    if others:
        return f"no option can be tried: {'; '.join(f'{option.name}: {reason}' for option, reason in others)}."
    return (
        "advice names nothing that an option could change here; name options with --try (traceview list options), "
        f"or see traceview advise {job.folder / BASE}."
    )


def _plan(job: Job, chosen: Sequence[Option], limits: Limits) -> str:
    """Describe the runs before they are made."""
    where = "in a fresh copy of this folder each" if job.copies else "in this folder"
    writes = "" if job.copies or any(RUN_FOLDER in value for _, value in job.environment) else (
        "; what it writes it writes again in each run (--copy runs it in copies, --env NAME={run} gives it a folder)"
    )  # fmt: skip
    ends = f"ended after {limits.discard + limits.steps} steps" if limits.ends else "until it ends by itself"
    names = ", ".join(option.name for option in chosen) or "no option"
    return (
        f"trying {names}: the command is run again and again for up to {_time(job.budget_s)}, recordings included, "
        f"{where}, {ends}{writes}. Its output goes to {job.folder / OUTPUT}."
    )


def _too_small(search_s: float, recordings_s: float, run_s: float) -> str | None:
    """Say before the first run that a budget is too small to claim anything, and which one is not."""
    if run_s <= 0 or search_s >= FEWEST_RUNS * run_s:
        return None
    needed = math.ceil((recordings_s + FEWEST_RUNS * run_s) / 60)
    return (
        f"at {run_s:.0f} s a run and {recordings_s:.0f} s for recordings there is room for {int(search_s / run_s)} "
        f"runs; a claim takes {FEWEST_RUNS} at least, about --budget {needed}m. The first option is tried in any case"
    )


def _time(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} seconds"


def _base(job: Job) -> tuple[Facts, dict[str, Bound], dict[str, Any]]:
    """Read a capture of the command without options: facts of the run, bounds by option, and what to keep of it."""
    folder = inside.within(job.folder, BASE)
    if not (folder / "capture.json").exists():
        job.say(f"recording some steps of the baseline into {folder}")
        _record(job, folder, dict(os.environ), BASE)
    about = results.about(folder, CAPTURED)
    if not about:
        raise InputError(f"{folder} is not a whole capture; remove it, and it is made again.")
    rank: dict[str, Any] = next(iter(about.get("ranks") or ()), {})
    records.checked(rank, RANK, f"{folder / trust.ABOUT}: ranks")
    facts = Facts(
        framework=about.get("framework"),
        version=str(about.get("framework_version") or ""),
        device=str(rank.get("device") or "cpu"),
        cores=int(rank.get("cores") or quiet.n_cores()),
        installed=trials.installed(),
        scratch=str(_scratch()),
    )
    noted = {name: about.get(name) for name in ("framework", "framework_version", "model", "cost")}
    noted["first_run_ns"] = _ns(about.get("ended_unix_ns")) - _ns(about.get("started_unix_ns"))
    return facts, _bounds(folder), {**noted, "ranks": [{**rank, "steps": None, "files": []}]}


def _ns(value: object) -> int:
    """A number of nanoseconds that a recording noted; 0 for anything else."""
    return int(value) if isinstance(value, int | float) and 0 <= value < 1 << 62 else 0


def _scratch() -> Path:
    """Return the folder for compilers' caches: these are run unchecked, so it is not one somebody may have sent."""
    return user_cache() / "compiled"


def _record(job: Job, folder: Path, environment: Mapping[str, str], name: str) -> None:
    """Collect some steps, as `traceview collect --stop-after` does. Raises `Failed` where that comes to nothing."""
    log = job.folder / OUTPUT / f"{name}.txt"
    with _placed(job, environment) as (there, own):
        try:
            code, why = recorded.record(job.command, own, folder, log, there, commands.longest_s(job.budget_s))
        except CommandFailed:
            raise
        except TraceviewError as error:
            raise Failed(f"{folder}: {error}", InputError.exit_code) from error
    if why and why.startswith(TOO_LONG):
        raise Failed(f"no step was recorded: {why}; a larger --budget waits longer", CHECK_FAILED)
    if why:
        nothing = "there is nothing to tune: " if name == BASE else ""
        raise Failed(f"{nothing}{why}", code if code > 0 else 128 - code if code else 3)


def _bounds(folder: Path) -> dict[str, Bound]:
    """The rule that found something for each option, with the speed-up that it allows; the largest counts."""
    rules = advice.load()
    with store.open_capture(folder) as connection:
        found = [
            each
            for each in advice_path.run(connection, rules, at_least_pct=AT_LEAST_PCT)
            if each.status == advice.FOUND
        ]
    shares = {each.rule: each.saving_pct if each.run_ns is None else None for each in found}
    return outcome.bounds(shares)


def _options(job: Job, facts: Facts, bounds: Mapping[str, Bound]) -> tuple[list[Option], list[tuple[Option, str]]]:
    """The options to try, those with the largest bound first, and those that do not apply with the reason."""
    names = [name for name in job.tried if name != NULL]
    among = trials.named(names) if job.tried else trials.of_rules(outcome.rules_of(bounds))
    skipped = {option.name for option in trials.named(job.skipped)}
    among = tuple(option for option in among if option.name not in skipped)
    among = (*among, NOTHING) if NULL in job.tried else among
    first, cannot = trials.that_apply(facts, [plan_option.option(job.folder)] if job.plan else [])
    fitting, others = trials.that_apply(facts, among)
    ranked = [*first, *_ranked(fitting, bounds)]
    mine = [
        (option, reason)
        for option, reason in others
        if option.name in job.tried or option.framework in (trials.ANY, facts.framework)
    ]
    return ranked, [*cannot, *mine]


def _ranked(options: Sequence[Option], bounds: Mapping[str, Bound]) -> list[Option]:
    """First one option of every rule, the largest bound first, then the second ones: a budget may end before all.

    Of a rule first the options that it is the first reason for.
    """

    def place(option: Option) -> int:
        rules = outcome.rules_of({option.name: bounds[option.name]}) if option.name in bounds else set()
        return min((option.rules.index(rule) for rule in rules if rule in option.rules), default=0)

    seen: Counter[str] = Counter()
    keyed: list[tuple[int, float, int, Option]] = []
    for option in sorted(options, key=place):
        bound = bounds.get(option.name)
        rule = bound.rule if bound else option.name
        keyed.append((seen[rule], -((bound.speedup or UNKNOWN_BOUND) if bound else 1.0), len(keyed), option))
        seen[rule] += 1
    return [option for *_, option in sorted(keyed)]


def _limits(job: Job, capture: Mapping[str, Any], chosen: Sequence[Option] = ()) -> Limits:
    """Decide how many steps a run takes: from the time of a step, unless they are given.

    Workers that load data deliver in bursts of as many batches as there are workers, after the first ones, which were
    waiting: whole bursts are timed, and those first ones are not.
    """
    step_s = (_ns((capture.get("cost") or {}).get("bare_step_ns")) or 1e8) / 1e9
    discard = 1 if step_s > SLOW_S else PLAIN_DISCARD
    steps = max(FEWEST, min(MOST, round(STEPS_S / step_s)))
    workers = _workers(capture, chosen)
    if workers:
        burst = math.lcm(*workers) if math.lcm(*workers) <= MOST else max(workers)
        discard, steps = max(discard, PREFETCHED * max(workers) + 1), -(-steps // burst) * burst
    discard = discard if job.discard is None else job.discard
    longest = commands.longest_s(job.budget_s, (capture.get("first_run_ns") or 0) / 1e9)
    if job.steps == 0:
        return Limits(discard, MOST, False, job.seed, None)
    return Limits(discard, job.steps or steps, True, job.seed, longest)


def _workers(capture: Mapping[str, Any], chosen: Sequence[Option]) -> list[int]:
    """Numbers of workers that load data: those of the script, and those that an option would start."""
    own = max((int(rank.get("workers") or 0) for rank in capture.get("ranks") or ()), default=0)
    added = min(quiet.n_cores(), trials.MOST_WORKERS) if any(it.name == LOADER for it in chosen) else 0
    return [number for number in {own, added} if number]


class _Runs:
    """Runs of the command; a script that is too short to leave out what workers had waiting is timed without that."""

    def __init__(self, job: Job, limits: Limits) -> None:
        self.job, self.limits = job, limits

    def measure(self, environment: Mapping[str, str]) -> Timed:
        """Run the command once."""
        timed = _measure(self.job, environment, self.limits)
        seen = timed.n_too_few or 0
        if timed.step_ns is not None and timed.steps < min(FEWEST, self.limits.steps):
            seen = self.limits.discard + timed.steps
        if seen <= PLAIN_DISCARD or self.limits.discard <= PLAIN_DISCARD or self.job.discard is not None:
            return timed
        self.limits = replace(self.limits, discard=PLAIN_DISCARD)
        self.job.say(f"the script ends after {seen} steps, too few to leave out batches that its workers had ready")
        return _measure(self.job, environment, self.limits)


def _measure(job: Job, environment: Mapping[str, str], limits: Limits) -> Timed:
    log = next_log(job.folder / OUTPUT)
    with _placed(job, environment) as (there, own):
        return commands.run(job.command, own, limits, log, there)


@contextlib.contextmanager
def _placed(job: Job, environment: Mapping[str, str]) -> Any:
    """The folder that a run works in (None: here), and its environment with what --env says."""
    with contextlib.ExitStack() as stack:
        there = None
        if job.copies:
            there = stack.enter_context(temporary_folder("traceview-copy-")) / Path.cwd().name
            commands.copy(Path.cwd(), there, job.folder)
        own = dict(environment)
        for name, value in job.environment:
            if RUN_FOLDER in value:
                value = value.replace(RUN_FOLDER, str(stack.enter_context(temporary_folder("traceview-out-"))))
            own[name] = value
        yield there, own


def _explain(
    job: Job, journal: Journal, found: Found, facts: Facts, environment: Callable[[Sequence[str]], dict[str, str]]
) -> None:
    """Record the best, to be compared with the base, where no earlier session did; another best's is put aside."""
    folder = inside.within(job.folder, BEST)
    names = [option.name for option in found.options if option is not NOTHING]
    if names and {*names} == {*(journal.about.get("recorded") or ())} and (folder / "capture.json").exists():
        return
    inside.put_aside(job.folder, BEST)
    journal.describe(recorded=names)
    if not names:
        return
    job.say(f"recording some steps with {', '.join(names)} into {folder}")
    try:
        _record(job, folder, environment(names), BEST)
    except Failed as failure:
        job.say(f"no capture of the best: {failure}")
        return
    tried = {option.name for each in found.tried for option in each.options}
    text = _still_named(facts, _bounds(folder), tried)
    if text:
        job.say(text)


def _still_named(facts: Facts, bounds: Mapping[str, Bound], tried: set[str]) -> str | None:
    """Name options that advice names once the best is on, and did not before: one fault hides another."""
    options, _ = trials.that_apply(facts, trials.of_rules(outcome.rules_of(bounds)))
    more = [option for option in options if option.name not in tried and bounds[option.name].speedup]
    if not more:
        return None
    names = ", ".join(f"{option.name} ({bounds[option.name].rule})" for option in more)
    return f"with the best on, advice names more that was hidden or not there before: {names}; --try takes them too"


def best_of(folder: Path) -> list[str]:
    """Return the options of the best combination, where final pairs showed it, or the only one, to be faster.

    Raises `UsageError` where there is none.
    """
    best = [row for row in results.rows(folder, "tune_options", trust.ANSWERS) if row.get("in_best") is True]
    best.sort(key=lambda row: row.get("kind") != "combination")
    if not best or best[0].get("verdict") != FASTER:
        raise UsageError(f"{folder} found no option that was faster; there is nothing to apply.")
    return [str(row.get("name")) for row in best if row.get("kind") == "option"]


def apply(folder: Path, command: Sequence[str], trusts: bool = False, say: Callable[[str], None] = _silent) -> int:
    """Run a command once with the best options of earlier runs; its exit code. Only options of ours set anything."""
    told = described(folder)
    rank = records.checked(next(iter(told.get("ranks") or ()), {}), RANK, f"{folder / trust.ABOUT}: ranks")
    facts = Facts(
        told.get("framework"), told.get("framework_version") or "", rank.get("device") or "cpu",
        quiet.n_cores(), trials.installed(), str(_scratch()),
    )  # fmt: skip
    names = best_of(folder)
    chosen = [*trials.named(name for name in names if name != plan_option.NAME)]
    chosen += [plan_option.option(folder)] if plan_option.NAME in names else []
    _, others = trials.that_apply(facts, chosen)
    if others:
        option, reason = others[0]
        raise UsageError(f"{option.name}, one of the best options in {folder}, cannot be applied here: {reason}.")
    environment = trials.environment(chosen, facts, os.environ)
    changed = {name: text for name, text in environment.items() if os.environ.get(name) != text}
    trust.allow(folder, trusts, say, command, changed, adopts=False)
    return commands.apply(command, environment)
