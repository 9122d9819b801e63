"""Every way to compute a pass of a convolution that a plan can name, timed as a plan runs it.

It runs in the Python of the user, where traceview may be absent. A time holds all that a pass costs under a plan: the
calls from Python, layouts and filters that the back-end wants otherwise, and the way back to the plan's layout.

Invariant: candidates are timed in turns, on the same tensors, by processor time where there is one thread; their
workspace is what was seen to be allocated.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import torch

from . import passes, runtime
from .backends.runners import FORMATS
from .backends.workspace import workspace
from .exact import Exact
from .measure import load_ns, most_allocated, profiled, timed, turns
from .model import SEED, environment
from .plan import DIRECTIONS

BACKENDS = ("winograd", "onednn", "torch_gemm", "nnpack")
PORTABLE = "winograd_torch"
"""Back-end that takes Winograd's place where there is no machine code for the processor."""
ROUNDS = 3
FAR = 1.5
"""Ratio to the time of a candidate with no more workspace from which on another is not timed again."""
COLD = 3.0
"""Ratio for the very first run, which also meets new memory."""
MIDDLE, BEST = 128, 2
"""Tiles at a time that all sizes of tiles are first timed with, and how many of these with other numbers."""
OLD = "sse41"
"""Kernels that no processor with AVX2 is faster with."""


def candidates(task: dict[str, Any], say: Callable[..., None]) -> None:
    """Say every candidate of every pass of some layers, each layer as soon as it is measured."""
    torch.set_num_threads(task["threads"])
    say(environment=environment(), cpu_s=time.process_time())
    for place, layer in enumerate(task["layers"]):
        say(measured=place, **measured(layer), cpu_s=time.process_time())


def measured(layer: dict[str, Any]) -> dict[str, Any]:
    """Every candidate of every pass of a layer: time, workspace, error; and what a change of layout takes."""
    entry = {"module": "", "shape": layer["shape"], "layout": "nhwc"}
    planned = runtime.Planned(entry, {"numerics": "close", "threads": torch.get_num_threads()}, runtime.say)
    tensors = operands(planned)
    change, rows = change_ns(tensors), []
    for direction in DIRECTIONS if layer["dgrad"] else ("fprop", "wgrad"):
        with torch.no_grad():
            rows += [{"direction": direction, **row} for row in Pass(planned, direction, tensors).candidates()]
    return {"rows": rows, "change": change}


def backends() -> tuple[str, ...]:
    """Return the back-ends to be tried on this processor."""
    try:
        import_module(".backends.winograd", __package__).kernels()
    except OSError:
        return tuple(PORTABLE if name == "winograd" else name for name in BACKENDS)
    return BACKENDS


def operands(planned: Any) -> dict[str, torch.Tensor]:
    """Random tensors of a layer's shapes."""
    torch.manual_seed(SEED)
    x, w = torch.randn(planned.input), 0.05 * torch.randn(planned.filter)
    with torch.no_grad():
        y = planned.default("fprop", x, w)
    return {"x": x, "w": w, "y": torch.randn(y.shape)}


def spent_ns(work: Callable[[], Any]) -> int:
    """Return the time of a run, of the processor where one thread does all the work."""
    return load_ns(timed(work)[0], threads=torch.get_num_threads())


def change_ns(tensors: dict[str, torch.Tensor]) -> dict[str, int]:
    """Return the time to bring the input and the output from one layout into the other."""
    return {
        f"{name}_ns": min(
            spent_ns(lambda it=tensors[name]: it.contiguous(memory_format=torch.channels_last))  # type: ignore[misc]
            for _ in range(ROUNDS)
        )
        for name in ("x", "y")
    }


class Pass:
    """A pass of a layer: its operands in both layouts, and what was found out about each candidate."""

    def __init__(self, planned: Any, direction: str, tensors: dict[str, torch.Tensor]) -> None:
        self.planned, self.direction = planned, direction
        names = {"fprop": ("x", "w"), "dgrad": ("y", "w"), "wgrad": ("x", "y")}[direction]
        self.given = {
            layout: [tensors[name].contiguous(memory_format=form) if name != "w" else tensors[name] for name in names]
            for layout, form in FORMATS.items()
        }
        self.like = {"fprop": None, "dgrad": tensors["x"], "wgrad": tensors["w"]}[direction]
        self.rows: list[dict[str, Any]] = []

    def candidates(self) -> list[dict[str, Any]]:
        """PyTorch's own in both layouts, and what every back-end offers."""
        for layout in FORMATS:
            own = {"backend": "torch_default", "implementation": "default", "algorithm": None, "layout": layout}
            self.rows.append({**own, "workspace_bytes": 0, "error": None, "run": self._own(layout)})
            self._once(self.rows[-1])
        offers = [row for name in backends() for row in self._offered(name)]
        # Tiles at a time matter least: they are tried for the best sizes of tiles alone.
        for row in offers:
            if row.get("block", MIDDLE) == MIDDLE:
                self._first(row)
        best = sorted((row["time_ns"], row["m"]) for row in self.rows if "m" in row and "time_ns" in row)[:BEST]
        for row in offers:
            if row.get("block", MIDDLE) != MIDDLE and row["m"] in {m for _, m in best}:
                self._first(row)
        for row in turns(self.rows, ROUNDS - 1):
            if "run" in row and not self._is_far(row, FAR):
                self._once(row)
        self._checked()
        left_out = ("run", "runner", "offer", "m", "block")
        return [{key: value for key, value in row.items() if key not in left_out} for row in self.rows]

    def _own(self, layout: str) -> Callable[[], torch.Tensor]:
        """PyTorch's own pass in a layout; run once, for what is made then."""

        def run() -> torch.Tensor:
            self.planned.format = FORMATS[layout]
            result: torch.Tensor = self.planned.default(self.direction, *self.given[layout], None, self.like)
            return result

        run()
        return run

    def _offered(self, name: str) -> list[dict[str, Any]]:
        """The implementations of a back-end, in each layout that they fit into; Winograd's reason where it has none."""
        backend = import_module(f".backends.{name}", __package__)
        offers = backend.implementations(self.planned.spec, self.direction)
        if "winograd" in name and all(offer["reason"] for offer in offers):
            self.rows.append({**_named(offers[0], name, "nhwc"), "reason": offers[0]["reason"]})
        found = []
        for offer in offers:
            if offer["reason"] or OLD in offer["implementation"]:
                continue
            is_plain = offer["layout_in"] == offer["layout_out"] and offer["layout_in"] in FORMATS
            for layout in (offer["layout_in"],) if is_plain else FORMATS:
                sizes = {size: offer[size] for size in ("m", "block") if size in offer}
                found.append({**_named(offer, name, layout), **sizes, "offer": offer})
        return found

    def _first(self, row: dict[str, Any]) -> None:
        """Prepare a candidate and run it, once for its workspace and, if that did not take far too long, for its
        time."""
        spec = SimpleNamespace(**{**vars(self.planned.spec), "layout": row["layout"]})
        given = self.given[row["layout"]]
        try:
            backend = import_module(f".backends.{row['backend']}", __package__)
            runner = backend.prepare(row["offer"], spec, self.direction)
            run = lambda: passes.run(runner, *given)  # noqa: E731
            row["time_ns"], row["workspace_bytes"] = self._allocated(run, runner)
        except Exception as error:
            print(f"{row['backend']} {row['implementation']}: {error}", file=sys.stderr, flush=True)
            return
        row["runner"], row["run"] = runner, run
        self.rows.append(row)
        if not self._is_far(row, COLD):
            del row["time_ns"]
            self._once(row)

    def _allocated(self, run: Callable[[], torch.Tensor], runner: Any) -> tuple[int, int]:
        """How long a first run takes, and the most memory that it had besides its result."""
        workspace().drop()
        (spent, result), profile = profiled(lambda: timed(run))
        beyond = max(0, most_allocated(profile) - result.numel() * result.element_size())
        n_bytes = beyond * getattr(runner, "shares", 1) + getattr(runner, "elsewhere_bytes", 0)
        return load_ns(spent, threads=torch.get_num_threads()), n_bytes

    def _once(self, row: dict[str, Any]) -> None:
        spent = spent_ns(row["run"])
        row["time_ns"] = min(spent, row.get("time_ns", spent))

    def _is_far(self, row: dict[str, Any], factor: float) -> bool:
        """Return whether another candidate is `factor` times faster within the same workspace."""
        return any(
            other["time_ns"] * factor < row["time_ns"] and other["workspace_bytes"] <= row["workspace_bytes"]
            for other in self.rows
            if "run" in other and "time_ns" in other
        )

    def _checked(self) -> None:
        """The errors of what may be chosen: faster than PyTorch's own in the same layout."""
        own = {row["layout"]: row["time_ns"] for row in self.rows if row["backend"] == "torch_default"}
        self.planned.format = torch.channels_last
        first, second = self.given["nhwc"]
        exact = Exact(self.planned.spec, self.direction, (first, second))
        own_error = exact.error(self.planned.default(self.direction, first, second, None, self.like))
        known: dict[tuple[str, str], float] = {}
        for row in self.rows:
            row["own_error"] = own_error
            row.setdefault("error", None)
            if "runner" not in row or row["time_ns"] >= own[row["layout"]]:
                continue
            # How many tiles at a time makes no difference to it.
            name = row["backend"], row["implementation"].partition(" by ")[0]
            if name not in known:
                known[name] = exact.error(passes.run(row["runner"], first, second))
            row["error"] = known[name]


def _named(offer: dict[str, Any], backend: str, layout: str) -> dict[str, Any]:
    """An offer as a plan names it."""
    name = offer.get("label", offer["implementation"])
    return {"backend": backend, "implementation": name, "algorithm": offer["algorithm"], "layout": layout}
