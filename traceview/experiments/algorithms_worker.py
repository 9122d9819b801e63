"""Measures convolutions in the Python of the user: one group (a pass of a layer) per line of stdin, answers on stdout.

Runs where traceview may be absent, as `python algorithms_worker.py FOLDER_OF_BACKENDS THREADS DEVICE NAME...`.
What a library prints on stdout is read as its log and never reaches the answers.

Invariant: nothing is believed that was not seen: the name of what ran comes from the library or from a trace of the
run, and the result is compared with double precision before it is timed.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import json
import math
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

PACKAGE = "traceview_backends"
BOUNDS = {"float32": 1e-3, "float64": 1e-6, "bfloat16": 5e-2, "float16": 5e-2}
"""An error over the largest value beyond which a result is wrong."""
SWEEPS = 2
"""Each implementation is timed in two parts, in opposite orders, so that a drift of the machine meets all alike."""
LEAST_S = 0.02
"""A part lasts as long, within MOST runs."""
MOST = 40
FAR = 4.0
"""An implementation this many times slower than the best so far is timed once in each part."""
OPERANDS = {"fprop": ("input", "filter"), "dgrad": ("grad_output", "filter"), "wgrad": ("input", "grad_output")}


def load(folder: Path, names: list[str]) -> dict[str, ModuleType]:
    """The back-ends, as a package of their own."""
    spec = importlib.util.spec_from_file_location(
        PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec and spec.loader
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)
    return {name: importlib.import_module(f"{PACKAGE}.{name}") for name in names}


class Log:
    """What libraries print on stdout: the file behind it."""

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile()  # noqa: SIM115
        self.start = 0
        os.dup2(self.file.fileno(), 1)

    def begin(self) -> None:
        """From here on."""
        self._flush()
        self.start = self.file.seek(0, os.SEEK_END)

    def lines(self) -> list[str]:
        """What came since."""
        self._flush()
        self.file.seek(self.start)
        return self.file.read().decode(errors="replace").splitlines()

    def _flush(self) -> None:
        sys.stdout.flush()
        ctypes.CDLL(None).fflush(None)


class Group:
    """One pass of a layer: its tensors, and what double precision says of them."""

    def __init__(self, asked: dict[str, Any], device: str) -> None:
        import torch

        self.direction: str = asked["direction"]
        self.layer = SimpleNamespace(**asked["layer"], batch=asked["batch"], device=device)
        layer = self.layer
        generator = torch.Generator().manual_seed(1)
        reach = [
            (size + 2 * pad - dilation * (length - 1) - 1) // stride + 1
            for size, pad, dilation, length, stride in (
                (layer.height, layer.pad_h, layer.dilation_h, layer.filter_height, layer.stride_h),
                (layer.width, layer.pad_w, layer.dilation_w, layer.filter_width, layer.stride_w),
            )
        ]
        filters = (layer.out_channels, layer.in_channels // layer.groups, layer.filter_height, layer.filter_width)
        shapes = {
            "input": (layer.batch, layer.in_channels, layer.height, layer.width),
            "filter": filters,
            "grad_output": (layer.batch, layer.out_channels, *reach),
        }
        dtype = getattr(torch, layer.dtype)
        self.tensors = {
            name: torch.randn(shapes[name], generator=generator).to(dtype).to(device)
            for name in OPERANDS[self.direction]
        }
        self.shapes = shapes
        self.expected = self._expected()

    def _expected(self) -> Any:
        """The result in double precision, of the first and the last image, or of some filters."""
        import torch

        layer, aten = self.layer, torch.ops.aten
        steps = [[layer.stride_h, layer.stride_w], [layer.pad_h, layer.pad_w], [layer.dilation_h, layer.dilation_w]]
        rest = (*steps, False, [0, 0], layer.groups)
        sample = {name: self._sampled(name, tensor).double() for name, tensor in self.tensors.items()}
        if self.direction == "fprop":
            return aten.convolution(sample["input"], sample["filter"], None, *rest)
        if self.direction == "dgrad":
            given = sample["grad_output"]
            image = given.new_empty((len(given), *self.shapes["input"][1:]))
            return aten.convolution_backward(given, image, sample["filter"], None, *rest, [True, False, False])[0]
        given = sample["grad_output"]
        filters = given.new_empty((given.shape[1], *self.shapes["filter"][1:]))
        return aten.convolution_backward(given, sample["input"], filters, None, *rest, [False, True, False])[1]

    def _sampled(self, name: str, tensor: Any) -> Any:
        if self.direction != "wgrad":
            return tensor if name == "filter" else tensor[self._picked(len(tensor))]
        return tensor[:, self._picked(tensor.shape[1])] if name == "grad_output" else tensor

    def _picked(self, size: int) -> list[int]:
        if self.direction == "wgrad" and self.layer.groups > 1:
            return list(range(size))
        return sorted({0, size // 2, size - 1} if self.direction == "wgrad" else {0, size - 1})

    def error(self, out: Any) -> float:
        """The largest error of a result over the largest value."""
        found = out[self._picked(len(out))].double()
        if found.shape != self.expected.shape:
            return math.inf
        value = float((found - self.expected).abs().max() / self.expected.abs().max())
        return value if math.isfinite(value) else math.inf


class Candidate:
    """An implementation under measurement, with the times so far."""

    def __init__(self, backend: ModuleType, row: dict[str, Any]) -> None:
        self.backend = backend
        self.row = row
        self.facts: dict[str, Any] = {}
        self.walls: list[int] = []
        self.cpus: list[int] = []
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
        """What came of it."""
        status, reason = self.failure or ("measured", None)
        found = {"backend": self.backend.NAME, "status": status, "reason": reason, **self.facts}
        for name in ("implementation", "algorithm", "layout_in", "layout_out", "workspace_bytes"):
            found.setdefault(name, self.row.get(name))
        times = {"walls": self.walls, "cpus": self.cpus, "preparing": self.preparing, "arranging": self.arranging}
        return {**found, **times} if status == "measured" else found


class Worker:
    """Measures groups on one device with one number of threads."""

    def __init__(self, backends: dict[str, ModuleType], device: str, answers: Any, log: Log) -> None:
        self.backends, self.device, self.answers, self.log = backends, device, answers, log

    def say(self, **what: Any) -> None:
        """One line of the answers."""
        print(json.dumps(what), file=self.answers, flush=True)

    def measure(self, asked: dict[str, Any]) -> None:
        """Measure one group and say all of its rows."""
        group = Group(asked, self.device)
        candidates: list[Candidate] = []
        for name in asked["backends"]:
            for candidate in self._listed(self.backends[name], group):
                if candidate.row["reason"] is not None:
                    candidate.failure = "cannot", candidate.row["reason"]
                elif candidate.key in asked["skip"]:
                    candidate.failure = "failed", asked["skip"][candidate.key]
                candidates.append(candidate)
        able = [candidate for candidate in candidates if candidate.failure is None]
        for sweep in range(SWEEPS):
            for candidate in able if sweep % 2 == 0 else reversed(able):
                if candidate.failure is None:
                    self.say(begin=candidate.key)
                    best = min((min(self._load(each)) for each in able if each.walls), default=None)
                    self._part(candidate, group, asked["repeats"], best)
        for candidate in candidates:
            self.say(row=candidate.answer())

    def _listed(self, backend: ModuleType, group: Group) -> list[Candidate]:
        """What a back-end has for a group; that it cannot run on this device, where it cannot."""
        try:
            if self.device not in backend.DEVICES:
                reason = backend.missing() if hasattr(backend, "missing") else None
                raise LookupError(reason or f"runs on {', '.join(backend.DEVICES)} only")
            rows = backend.implementations(group.layer, group.direction)
        except Exception as error:
            rows = [{"implementation": "any", "layout_in": "any", "layout_out": "any", "reason": _sentence(error)}]
        return [Candidate(backend, row) for row in rows]

    def _part(self, candidate: Candidate, group: Group, repeats: int, best: int | None) -> None:
        """Prepare, check and time one implementation."""
        try:
            runner = candidate.backend.prepare(candidate.row, group.layer, group.direction)
            packed = [self._packed(candidate, runner, name, group.tensors[name]) for name in runner.operands]
            out = runner.run(*packed)
            self._unpacked(candidate, runner, out, group)
            if not candidate.walls:
                # Before anything may be overwritten by the next run.
                self._check(candidate, group, runner.unpack(out))
                if candidate.failure is None:
                    self._prove(candidate, runner, packed)
            if candidate.failure:
                return
            # The run above met cold caches and new memory; this one tells how many more are worth their time.
            times, _ = self._timed(lambda: runner.run(*packed))
            n = max(repeats, min(MOST, math.ceil(LEAST_S * 1e9 / max(times[0], 1))))
            n = 1 if best is not None and self._load(candidate, times)[0] > FAR * best else n
            for place in range(n):
                times = times if place == 0 else self._timed(lambda: runner.run(*packed))[0]
                candidate.walls.append(times[0])
                candidate.cpus.append(times[1])
        except Exception as error:
            candidate.failure = "failed", _sentence(error)

    def _load(self, candidate: Candidate, times: tuple[int, int] | None = None) -> list[int]:
        """What tells slow from fast whatever else runs: on a CPU processor time."""
        place = 1 if self.device == "cpu" else 0
        return [times[place]] if times else (candidate.walls, candidate.cpus)[place]

    def _packed(self, candidate: Candidate, runner: Any, name: str, tensor: Any) -> Any:
        """An operand in the form that is demanded; the time of the second of two counts."""
        runner.pack(name, tensor)
        times, packed = self._timed(lambda: runner.pack(name, tensor))
        (candidate.preparing if name == "filter" else candidate.arranging).append(times[0])
        return packed

    def _unpacked(self, candidate: Candidate, runner: Any, out: Any, group: Group) -> None:
        runner.unpack(out).contiguous()
        times, _ = self._timed(lambda: runner.unpack(out).contiguous())
        (candidate.preparing if group.direction == "wgrad" else candidate.arranging).append(times[0])

    def _timed(self, work: Any) -> tuple[tuple[int, int], Any]:
        """Wall and processor time in nanoseconds, and the result; the device has finished."""
        begin, begin_cpu = time.perf_counter_ns(), time.process_time_ns()
        result = work()
        if self.device != "cpu":
            import torch

            torch.cuda.synchronize()
        return (time.perf_counter_ns() - begin, time.process_time_ns() - begin_cpu), result

    def _check(self, candidate: Candidate, group: Group, out: Any) -> None:
        error, bound = group.error(out), BOUNDS.get(group.layer.dtype, 1e-3)
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
                facts["kernels"] = self._kernels(self._profiled(lambda: runner.run(*packed))[0])
            return
        named = self._logged(lambda: runner.run(*packed))
        events, peak = self._profiled(lambda: runner.run(*packed))
        lacking = [name for name in needed if name not in events]
        if lacking:
            candidate.failure = "failed", f"a trace of the run shows no {lacking[0]}"
        elif needed:
            facts["implementation"], facts["proof"] = row["implementation"], "operators"
            facts["workspace_bytes"] = None if peak is None else peak + getattr(runner, "held_bytes", 0)
        elif named:
            facts["implementation"], facts["proof"] = f"{row['implementation']}: {' + '.join(named)}", "log"
            facts["primitives"] = named
        else:
            ran = [name for name in events if "conv" in name][-1:]
            facts["implementation"], facts["proof"] = f"{row['implementation']}: {' + '.join(ran)}", "operators"
            facts["operator"] = ran[0] if ran else None
            facts["kernels"] = self._kernels(events)

    def _kernels(self, events: list[str]) -> list[str]:
        """What ran on a device; operators and calls of the runtime have other names."""
        return [name for name in events if not re.match(r"aten::|cuda[A-Z]|cu[A-Z]|Activity|Memcpy|Memset", name)]

    def _logged(self, work: Any) -> list[str]:
        """Convolutions in oneDNN's log of a run, by implementation."""
        import torch

        mkldnn: Any = torch.backends.mkldnn
        if self.device != "cpu" or not mkldnn.is_available():
            return []
        self.log.begin()
        with mkldnn.verbose(mkldnn.VERBOSE_ON):
            work()
        words = [line.split(",") for line in self.log.lines() if ",exec,cpu," in line]
        after = [line[line.index("exec") + 2 :] for line in words]
        return list(dict.fromkeys(line[1] for line in after if line[:1] == ["convolution"]))

    def _profiled(self, work: Any) -> tuple[list[str], int | None]:
        """Operators and kernels of a run in order, and the most memory that PyTorch held beyond the result."""
        from torch.profiler import ProfilerActivity, profile

        kinds = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if self.device != "cpu" else [])
        with profile(activities=kinds, profile_memory=True) as profiled:
            out = work()
        peak = None
        try:
            events = profiled.profiler.kineto_results.events()
            held = highest = 0
            for event in sorted(events, key=lambda one: one.start_ns()):
                held += event.nbytes() if event.name() == "[memory]" else 0
                highest = max(highest, held)
            result = out.numel() * out.element_size() if hasattr(out, "element_size") else 0
            peak = max(0, highest - result)
        except AttributeError:
            pass
        return list(dict.fromkeys(event.name for event in profiled.events())), peak


def _sentence(error: BaseException) -> str:
    """What went wrong, in one line."""
    text = " ".join(str(error).split())[:200]
    return text if text and isinstance(error, (LookupError, RuntimeError)) else f"{type(error).__name__}: {text}"


def main(arguments: list[str]) -> None:
    """Answer the lines of stdin until it ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    log = Log()
    folder, threads, device, *names = arguments
    # Files beside this one are not modules that a library means.
    sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != Path(__file__).resolve().parent]
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        raise SystemExit(f"PyTorch {torch.__version__} sees no GPU here (no driver, no device, or a build for CPUs)")
    torch.set_num_threads(int(threads))
    torch.set_grad_enabled(False)
    worker = Worker(load(Path(folder), names), device, answers, log)
    versions = {}
    for backend in worker.backends.values():
        try:
            versions[backend.NAME] = backend.version()
        except Exception:
            versions[backend.NAME] = None
    product = torch.cuda.get_device_name() if device == "cuda" else "cpu"
    worker.say(ready=versions, torch=torch.__version__, device=product, threads=torch.get_num_threads())
    for line in sys.stdin:
        worker.measure(json.loads(line))
        worker.say(done=True, cpu_s=time.process_time())


if __name__ == "__main__":
    main(sys.argv[1:])
