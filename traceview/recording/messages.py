"""Messages of `traceview collect`: how a command ended, what was recorded of it, and why nothing was."""

from __future__ import annotations

import re
import resource
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from traceview.paths import content, from_here
from traceview.recording import nvtx

_FRAMEWORK = re.compile(r'(?m)^FRAMEWORK = "(\w+)')
LOST = {
    "recording": "it ended while recording with no chance to write its trace (os._exit, kill -9 or a crash)",
    "exec": "what was recorded before it called exec, to become another program, is left out",
    "failed": "",
}


def ending(exit_code: int) -> str:
    """How a command ended, as the rest of a sentence; an exit code below zero is a signal's."""
    if exit_code == 0:
        return "succeeded"
    if exit_code > 0:
        return f"failed with exit code {exit_code}"
    try:
        return f"was ended by {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"was ended by signal {-exit_code}"


def stopped(signal_name: str, capture: Path | None) -> str:
    """Say what is left when traceview itself was ended; `capture` is None where nothing is."""
    if capture is None:
        return f"ended by {signal_name}; no capture"
    return f"ended by {signal_name} before the traces were converted; traceview report {from_here(capture)} does it"


def unconverted(raw: Path, error: Exception) -> str:
    """Why there are no tables although the command ran, and what is left."""
    reason = error.strerror if isinstance(error, OSError) else str(error).rstrip(".")
    if any(raw.glob("rank-*")):
        return f"the raw traces are in {raw}, but could not be converted: {reason}"
    return f"no capture: {reason}"


def frameworks() -> list[str]:
    """The modules whose import starts a collector, as each collector says it."""
    texts = [path.read_text(encoding="utf-8") for path in content("collectors").glob("*.py")]
    return sorted({found[1] for text in texts if (found := _FRAMEWORK.search(text))})


def limit_of_files() -> str:
    """Say, as another sentence, that files may not become large here; nothing where they may."""
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if most in (resource.RLIM_INFINITY, -1):
        return ""
    return f" Files may not be larger than {most:,} bytes here, and a trace is; raise the limit with `ulimit -f`."


def why_none(
    notes: list[tuple[int, str, str]], options: dict[str, int], has_options: bool = True, exit_code: int | None = None
) -> str:
    """The reason that tells most, as a sentence: that of the process that came furthest.

    `has_options`: whether the user can say how many steps are recorded. `exit_code`: as `ending` takes it.
    """
    found = {state: detail for _, state, detail in notes}
    if "recording" in found:
        return f"a process was recording; {LOST['recording']}."
    if "" in found:
        return "a process could not write to the capture folder, which may be full."
    if "captured" in found:
        return "nsys wrote no report of the recorded steps; its output says why."
    if "failed" in found:
        return f"the recording was given up: {found['failed']}.{limit_of_files()}"
    if "waiting" in found:
        done, _, source = found["waiting"].partition(" ")
        first = options["wait"] + options["warmup"]
        if done != "0":
            return (
                f"the script ended after {done} steps ({source}) and recording begins after {first}; "
                f"run more steps{', or pass --wait 0 --warmup 0' if has_options else ''}."
            )
    if "exec" in found:
        return (
            "a process was recording when it called exec, and nothing was recorded of the program that followed; "
            "pass a smaller --wait or --steps to finish before that."
        )
    if exit_code is not None and exit_code < 0:
        return f"the command {ending(exit_code)} before a step was recorded."
    if "waiting" in found or "framework" in found:
        return (
            "a framework was imported, but no step was seen to end: no optimizer's step, no call of a model or of a "
            "compiled function that is called again. "
            'Mark the end of each step with: import sys; sys.audit("traceview.step")'
        )
    if "python" in found:
        return f"the command imported no framework that traceview supports ({', '.join(frameworks())})."
    return (
        "the collector was not loaded. Give a command that runs Python, "
        "without its options -S, -I and -E, which ignore PYTHONPATH."
    )


def summary(ranks: list[dict[str, Any]], options: dict[str, int], times: Sequence[tuple[int, int, int]] = ()) -> str:
    """Sum up the recording in a few words. `times`: of each rank with steps its number, warm-up steps and step time."""
    if ranks[0]["framework"] is None:
        if any(not name.endswith(nvtx.SUFFIX) for name in ranks[0]["files"]):
            return "recorded the whole run"
        count = "1 process" if len(ranks) == 1 else f"{len(ranks)} processes"
        return f"recorded the NVTX ranges of {count}; no framework was recorded"
    recorded = ranks[0]["steps"]["recorded"]
    processes = f" of {len(ranks)} processes" if len(ranks) > 1 else ""
    text = f"recorded {_steps(recorded)}{processes}"
    if recorded < options["steps"]:
        text += f" (of {options['steps']}; cut short: {ranks[0]['ended_by']})"
    costs = [rank["cost"] for rank in ranks]
    text += _each(times, costs) + unsettled(costs[0], options)
    if shared := costs[0].get("shared"):
        others = f"{shared[0]} of the {recorded} recorded steps and {shared[1]} of {costs[0]['bare_steps']} others"
        text += f". A second optimizer (or function that trains) came with {others}: record more --steps, or mark the "
        text += 'end of whole rounds with sys.audit("traceview.step")'
    return text


def unsettled(cost: dict[str, Any], options: dict[str, int]) -> str:
    """Say that steps became faster after the recording, as another part of the sentence; nothing where they did not."""
    before, after = cost.get("unsettled_ns"), cost.get("settled_ns")
    if not before or not after:
        return ""
    later = max(20, 2 * (options["wait"] + options["warmup"] + options["steps"]))
    return (
        f". Steps were slower before the recording than after it, {_ms(before)} and {_ms(after)} ms: "
        f"they may not have settled; --wait {later} records later"
    )


def _each(times: Sequence[tuple[int, int, int]], costs: list[dict[str, Any]]) -> str:
    """The step time of the reports, and what a step took without the profiler; nothing without steps."""
    if not times:
        return ""
    text = f", {_range([time for _, _, time in times])} ms each"
    n_warmup = max(warmup for _, warmup, _ in times)
    cost, bare = costs[0], [cost["bare_step_ns"] for cost in costs]
    spread = ""
    if len(costs) == 1 and cost.get("bare_steps", 0) > 3:
        low, high, mean = cost["bare_low_ns"], cost["bare_high_ns"], cost.get("bare_mean_ns")
        spread = f", {_ms(low)} to {_ms(high)}"
        spread += f", {_ms(mean)} on average" if mean and mean > high else ""
    notes = [f"{_range(bare)} ms unprofiled{spread}"] if all(bare) else []
    notes += [f"without {_steps(n_warmup)} of warm-up"] if n_warmup else []
    return text + (f" ({'; '.join(notes)})" if notes else "")


def _range(times_ns: Sequence[int]) -> str:
    """The shortest and the longest time in milliseconds, once where they are equal."""
    return " to ".join(map(_ms, dict.fromkeys((min(times_ns), max(times_ns)))))


def _steps(count: int) -> str:
    return f"{count} {'step' if count == 1 else 'steps'}"


def _ms(time_ns: int) -> str:
    """Milliseconds with about three digits."""
    time = time_ns / 1e6
    return f"{time:,.{0 if time >= 100 else 1 if time >= 10 else 2 if time >= 1 else 3}f}"
