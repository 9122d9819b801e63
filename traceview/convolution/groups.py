"""Measures every implementation of a group (a pass of a layer), for `traceview study algorithms`.

It runs in the Python of the user, where traceview may be absent.

Invariant: nothing is believed that was not seen: the name of what ran comes from the library or from a trace of the
run, and the result is compared with double precision before it is timed.
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import torch

from .backends.runners import OPERANDS, offered, shapes
from .exact import Exact
from .measure import Spent, load_ns, most_allocated, names, printed, profiled, timed, turns

BOUNDS = {"float32": 1e-3, "float64": 1e-6, "bfloat16": 5e-2, "float16": 5e-2}
"""An error over the largest value beyond which a result is wrong."""
SWEEPS = 2
"""Each implementation is timed in two parts, in opposite orders, so that a drift of the machine meets all alike."""
LEAST_S = 0.02
"""A part lasts as long, within MOST runs."""
MOST = 40
FAR = 4.0
"""An implementation this many times slower than the best so far is timed once in each part."""


Say = Callable[..., None]


def open(task: dict[str, Any], say: Say) -> dict[str, Any]:  # noqa: A001
    """Make this process ready to measure; return the versions of back-ends and of PyTorch."""
    device = task["device"]
    if device == "cuda" and not torch.cuda.is_available():
        raise SystemExit(f"PyTorch {torch.__version__} sees no GPU here (no driver, no device, or a build for CPUs)")
    torch.set_num_threads(task["threads"])
    torch.set_grad_enabled(False)
    versions = {}
    for name in task["backends"]:
        module = backend(name)
        try:
            versions[module.NAME] = module.version()
        except Exception:
            versions[module.NAME] = None
    product = torch.cuda.get_device_name() if device == "cuda" else "cpu"
    return {"versions": versions, "torch": torch.__version__, "device": product, "threads": torch.get_num_threads()}


def backend(name: str) -> ModuleType:
    """Return a back-end."""
    return importlib.import_module(f".backends.{name}", __package__)


class Candidate:
    """An implementation under measurement, with the times so far."""

    def __init__(self, backend: ModuleType, row: dict[str, Any]) -> None:
        self.backend = backend
        self.row = row
        self.facts: dict[str, Any] = {}
        self.spent: list[Spent] = []
        self.preparing: list[int] = []
        self.arranging: list[int] = []
        self.failure: tuple[str, str] | None = None

    @property
    def key(self) -> str:
        """Its name among all of a group."""
        return " ".join(
            [self.backend.NAME, *(self.row[name] for name in ("implementation", "layout_in", "layout_out"))]
        )

    def answer(self) -> dict[str, Any]:
        """Return the result row."""
        status, reason = self.failure or ("measured", None)
        found = {"backend": self.backend.NAME, "status": status, "reason": reason, **self.facts}
        for name in ("implementation", "algorithm", "layout_in", "layout_out", "workspace_bytes"):
            found.setdefault(name, self.row.get(name))
        walls, cpus = [spent.wall_ns for spent in self.spent], [spent.cpu_ns for spent in self.spent]
        times = {"walls": walls, "cpus": cpus, "preparing": self.preparing, "arranging": self.arranging}
        return {**found, **times} if status == "measured" else found


def group(task: dict[str, Any], say: Say) -> None:
    """Measure one group, a pass of a layer: time all that can run, in turns, and say every row."""
    Group(task).measure(task, say)


class Group:
    """One pass of a layer on one device: its tensors, and its result in double precision."""

    def __init__(self, task: dict[str, Any]) -> None:
        self.direction, self.device = task["direction"], task["device"]
        self.layer = SimpleNamespace(**task["layer"], batch=task["batch"], device=self.device)
        generator = torch.Generator().manual_seed(1)
        dtype = getattr(torch, self.layer.dtype)
        self.tensors = {
            name: torch.randn(shapes(self.layer)[name], generator=generator).to(dtype).to(self.device)
            for name in OPERANDS[self.direction]
        }
        first, second = self.tensors.values()
        self.exact = Exact(self.layer, self.direction, (first, second))

    def measure(self, task: dict[str, Any], say: Say) -> None:
        """Time every candidate."""
        candidates: list[Candidate] = []
        for name in task["backends"]:
            for candidate in self._listed(backend(name)):
                if candidate.row["reason"] is not None:
                    candidate.failure = "cannot", candidate.row["reason"]
                elif candidate.key in task["skip"]:
                    candidate.failure = "failed", task["skip"][candidate.key]
                candidates.append(candidate)
        able = [candidate for candidate in candidates if candidate.failure is None]
        for candidate in turns(able, SWEEPS):
            if candidate.failure is None:
                say(begin=candidate.key)
                best = min((self._load(spent) for each in able for spent in each.spent), default=None)
                self._part(candidate, task["repeats"], best)
        for candidate in candidates:
            say(row=candidate.answer())

    def _listed(self, backend: ModuleType) -> list[Candidate]:
        """List a back-end's candidates for a group, or the reason why it cannot run on this device."""
        try:
            if self.device not in backend.DEVICES:
                reason = backend.missing() if hasattr(backend, "missing") else None
                raise LookupError(reason or f"runs on {', '.join(backend.DEVICES)} only")
            rows = backend.implementations(self.layer, self.direction)
        except Exception as error:
            rows = [offered("any", None, "any", _sentence(error))]
        return [Candidate(backend, row) for row in rows]

    def _part(self, candidate: Candidate, repeats: int, best: int | None) -> None:
        """Prepare, check and time one implementation."""
        try:
            runner = candidate.backend.prepare(candidate.row, self.layer, self.direction)
            packed = [self._packed(candidate, runner, name, self.tensors[name]) for name in runner.operands]
            out = runner.run(*packed)
            self._unpacked(candidate, runner, out)
            if not candidate.spent:
                # Before anything may be overwritten by the next run.
                self._check(candidate, runner.unpack(out))
                if candidate.failure is None:
                    self._prove(candidate, runner, packed)
            if candidate.failure:
                return
            # The run above met cold caches and new memory; this one tells how many more are worth their time.
            spent, _ = timed(lambda: runner.run(*packed), self.device)
            n = max(repeats, min(MOST, math.ceil(LEAST_S * 1e9 / max(spent.wall_ns, 1))))
            n = 1 if best is not None and self._load(spent) > FAR * best else n
            candidate.spent.append(spent)
            for _ in range(n - 1):
                candidate.spent.append(timed(lambda: runner.run(*packed), self.device)[0])
        except Exception as error:
            candidate.failure = "failed", _sentence(error)

    def _load(self, spent: Spent) -> int:
        return load_ns(spent, self.device)

    def _packed(self, candidate: Candidate, runner: Any, name: str, tensor: Any) -> Any:
        """An operand in the form that is demanded; the time of the second of two counts."""
        runner.pack(name, tensor)
        spent, packed = timed(lambda: runner.pack(name, tensor), self.device)
        (candidate.preparing if name == "filter" else candidate.arranging).append(spent.wall_ns)
        return packed

    def _unpacked(self, candidate: Candidate, runner: Any, out: Any) -> None:
        runner.unpack(out).contiguous()
        spent, _ = timed(lambda: runner.unpack(out).contiguous(), self.device)
        (candidate.preparing if self.direction == "wgrad" else candidate.arranging).append(spent.wall_ns)

    def _check(self, candidate: Candidate, out: Any) -> None:
        error, bound = self.exact.error(out), BOUNDS.get(self.layer.dtype, 1e-3)
        candidate.facts["error"] = error if math.isfinite(error) else None
        if not error <= bound:
            candidate.failure = "wrong", f"its error is {error:.1e} of the largest value, more than {bound:.0e}"

    def _prove(self, candidate: Candidate, runner: Any, packed: list[Any]) -> None:
        """Find out what ran, and the memory it took, where the library does not tell."""
        facts, row = candidate.facts, candidate.row
        facts["workspace_bytes"] = runner.workspace_bytes
        needed = getattr(runner, "operators", ())
        if runner.implementation is not None or (row["algorithm"] and not needed):
            # Asked of the library, or code of the back-end itself.
            facts["implementation"] = runner.implementation or row["implementation"]
            facts["proof"] = "call" if row["algorithm"] else "queried"
            if self.device != "cpu":
                facts["kernels"] = self._kernels(names(profiled(lambda: runner.run(*packed), self.device)[1]))
            return
        named = self._logged(lambda: runner.run(*packed))
        out, profile = profiled(lambda: runner.run(*packed), self.device)
        events = names(profile)
        lacking = [name for name in needed if name not in events]
        if lacking:
            candidate.failure = "failed", f"a trace of the run shows no {lacking[0]}"
        elif needed:
            facts["implementation"], facts["proof"] = row["implementation"], "operators"
            facts["workspace_bytes"] = _workspace(runner, out, profile)
        elif named:
            facts["implementation"], facts["proof"] = f"{row['implementation']}: {' + '.join(named)}", "log"
            facts["primitives"] = named
        else:
            ran = [name for name in events if "conv" in name][-1:]
            facts["implementation"], facts["proof"] = f"{row['implementation']}: {' + '.join(ran)}", "operators"
            facts["operator"] = ran[0] if ran else None
            facts["kernels"] = self._kernels(events)

    def _kernels(self, events: list[str]) -> list[str]:
        """Return the kernels that ran on a device; operators and calls of the runtime have other names."""
        return [name for name in events if not re.match(r"aten::|cuda[A-Z]|cu[A-Z]|Activity|Memcpy|Memset", name)]

    def _logged(self, work: Any) -> list[str]:
        """Convolutions in oneDNN's log of a run, by implementation."""
        mkldnn: Any = torch.backends.mkldnn
        if self.device != "cpu" or not mkldnn.is_available():
            return []
        with printed() as lines, mkldnn.verbose(mkldnn.VERBOSE_ON):
            work()
        words = [line.split(",") for line in lines if ",exec,cpu," in line]
        after = [line[line.index("exec") + 2 :] for line in words]
        return list(dict.fromkeys(line[1] for line in after if line[:1] == ["convolution"]))


def _workspace(runner: Any, out: Any, profile: Any) -> int | None:
    """Return the most memory that PyTorch held beyond the result, and what the runner holds; None if it is not told."""
    result = out.numel() * out.element_size() if hasattr(out, "element_size") else 0
    try:
        return max(0, most_allocated(profile) - result) + int(getattr(runner, "held_bytes", 0))
    except AttributeError:
        return None


def _sentence(error: BaseException) -> str:
    """Return the error in one line."""
    text = " ".join(str(error).split())[:200]
    return text if text and isinstance(error, (LookupError, RuntimeError)) else f"{type(error).__name__}: {text}"
