"""A plan of `traceview schedule` as one more option of `tune`: tried alone, combined, applied with the best.

Invariant: what is tried and applied is the copy in the folder of results, so that both are one plan.
"""

from __future__ import annotations

import json
from pathlib import Path

from traceview.convolution.plan import PlanError, check
from traceview.errors import UsageError
from traceview.experiments import inside, trust
from traceview.experiments.schedule.job import with_plan
from traceview.experiments.tune.options import Option

NAME, FILE = "plan", trust.PLAN
MOST_BYTES = 16 << 20


def keep(folder: Path, given: str | None) -> None:
    """Copy a plan into the folder of results, where none is yet. Raises `UsageError` for what is not a plan."""
    if given is None or inside.exists(folder, FILE):
        return
    content = read(Path(given), is_tried=True).encode()
    trust.note(folder, FILE, content)
    inside.replace(folder, FILE, content)


def option(folder: Path) -> Option:
    """The plan in the folder of results as an option. Raises `UsageError` where there is none."""
    if (folder / FILE).is_symlink():
        raise UsageError(f"{folder / FILE} is a link; a plan of results is a file of their own.")
    read(folder / FILE, is_tried=True)
    # Braces in values stand for facts of the machine.
    variables = {name: text.replace("{", "{{").replace("}", "}}") for name, text in with_plan(folder / FILE).items()}
    return Option(
        NAME, "Convolutions by the plan of traceview schedule", NAME, "torch", "close",
        "Workspace of the algorithms; each is checked once, in the first steps.",
        "Shapes change: what is not in the plan runs as before.", (),
        {"torch": 'import traceview\ntraceview.schedule.apply(model, "plan.json")'},
        "layers of the model that run what the plan names", needs=("cpu",), environment=variables, hook=NAME,
    )  # fmt: skip


def read(path: Path, is_tried: bool = False) -> str:
    """The text of a plan; one that is tried has to name layers. Raises `UsageError` where it is not one."""
    try:
        # The user may name a link; what it leads to has to be a file all the same.
        real = path.resolve(strict=True)
        if not real.is_file():
            raise UsageError(f"{path} is not a regular file, so it is not a plan of traceview schedule.")
        text = inside.read(real.parent, real.name, MOST_BYTES).decode()
        told = json.loads(text)
    except OSError as error:
        raise UsageError(f"cannot read the plan {path}: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not a plan of traceview schedule: it is not JSON.") from error
    if not isinstance(told, dict) or "traceview_plan" not in told:
        raise UsageError(f"{path} is not a plan of traceview schedule.")
    if is_tried and not told.get("layers"):
        raise UsageError(
            f"{path} names no layers, so there is nothing to try: traceview schedule did not show a plan to be faster. "
            "With --pairs 0 it leaves that to tune."
        )
    try:
        check(told)
    except PlanError as error:
        raise UsageError(f"{path} cannot be applied: {error}.") from error
    return text
