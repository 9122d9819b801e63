"""cuDNN through NVIDIA's frontend (package nvidia-cudnn-frontend): every plan that its heuristics offer for a pass.

A plan's name is the library's; which algorithm it is, the kernels of a run tell. Plans are built one by one: one that
cannot be built is a failure of its own.
"""

from __future__ import annotations

import ctypes
import importlib
from typing import Any

import torch

from . import runners
from .runners import FORMATS, OPERANDS, RESULT, offered, shapes

NAME = "cudnn"
DEVICES = ("cuda",)
TYPES = {"float32": "FLOAT", "float16": "HALF", "bfloat16": "BFLOAT16"}


def missing() -> str | None:
    """Say what is missing to run here, in a sentence; None where all is there."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no NVIDIA driver here: libcuda.so.1 cannot be loaded"
    if not torch.cuda.is_available():
        return "PyTorch sees no GPU here (a build for CPUs, or no device)"
    try:
        importlib.import_module("cudnn").backend_version()
    except ImportError:
        return "the package nvidia-cudnn-frontend is not installed"
    except RuntimeError as error:
        return f"libcudnn cannot be loaded: {' '.join(str(error).split())[:100]}"
    return None


def version() -> str:
    """Return the version of libcudnn."""
    return str(importlib.import_module("cudnn").backend_version())


def implementations(layer: Any, direction: str) -> list[dict[str, Any]]:
    """Every plan for both layouts."""
    reason = missing()
    if reason is None and layer.dtype not in TYPES:
        reason = f"no type {layer.dtype}"
    if reason:
        return [offered("any", None, "any", reason)]
    rows = []
    for layout in FORMATS:
        try:
            graph = Problem(layer, direction, layout).graph
        except RuntimeError as error:
            rows.append(offered("any", None, layout, " ".join(str(error).split())[:200]))
            continue
        rows += [offered(name, None, layout) for name in _plans(graph)]
    return rows


def _plans(graph: Any) -> list[str]:
    return [graph.get_plan_name_at_index(place) for place in range(graph.get_execution_plan_count())]


def prepare(implementation: dict[str, Any], layer: Any, direction: str) -> Runner:
    """The plan, built."""
    return Runner(implementation, layer, direction)


class Problem:
    """The graph of one pass in one layout, with its plans."""

    def __init__(self, layer: Any, direction: str, layout: str) -> None:
        cudnn = importlib.import_module("cudnn")
        kind = getattr(cudnn.data_type, TYPES[layer.dtype])
        single = cudnn.data_type.FLOAT
        self.handle = cudnn.create_handle()
        cudnn.set_stream(handle=self.handle, stream=torch.cuda.current_stream().cuda_stream)
        self.graph = cudnn.pygraph(
            handle=self.handle, io_data_type=kind, intermediate_data_type=single, compute_data_type=single
        )
        self.format = FORMATS[layout]
        # Only shapes and strides are read of these.
        dtype = getattr(torch, layer.dtype)
        self.like = {
            name: torch.empty(shape, dtype=dtype, device="meta").to(memory_format=self.format)
            for name, shape in shapes(layer).items()
        }
        self.operands, self.result = OPERANDS[direction], RESULT[direction]
        self.given = [
            self.graph.tensor(name=name, dim=[*like.shape], stride=[*like.stride()], data_type=kind)
            for name, like in ((name, self.like[name]) for name in self.operands)
        ]
        steps = {
            "padding": [layer.pad_h, layer.pad_w],
            "stride": [layer.stride_h, layer.stride_w],
            "dilation": [layer.dilation_h, layer.dilation_w],
        }
        names = {"fprop": ("image", "weight"), "dgrad": ("loss", "filter"), "wgrad": ("image", "loss")}[direction]
        call = getattr(self.graph, f"conv_{direction}")
        self.made = call(**dict(zip(names, self.given)), **steps)
        self.made.set_output(True).set_data_type(kind)
        self.made.set_dim(list(self.like[self.result].shape)).set_stride(list(self.like[self.result].stride()))
        self.graph.validate()
        self.graph.build_operation_graph()
        self.graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.B, cudnn.heur_mode.FALLBACK])
        self.graph.check_support()


class Runner(runners.Runner):
    """One plan with its workspace."""

    def __init__(self, given: dict[str, Any], layer: Any, direction: str) -> None:
        self.problem = Problem(layer, direction, given["layout_in"])
        graph = self.problem.graph
        names = _plans(graph)
        if given["implementation"] not in names:
            raise LookupError(f"cuDNN offers no plan {given['implementation']} here")
        self.place = names.index(given["implementation"])
        graph.build_plan_at_index(self.place)
        self.implementation, self.operands = names[self.place], OPERANDS[direction]
        self.workspace_bytes = int(graph.get_workspace_size_plan_at_index(self.place))
        self.workspace = torch.empty(max(self.workspace_bytes, 1), dtype=torch.uint8, device="cuda")

    def pack(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor in the layout of the plan."""
        return tensor.contiguous(memory_format=self.problem.format)

    def run(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        """The pass, into a new tensor."""
        problem = self.problem
        out = torch.empty_like(problem.like[problem.result], device="cuda")
        tensors = {problem.given[0]: first, problem.given[1]: second, problem.made: out}
        problem.graph.execute_plan_at_index(tensors, self.workspace, self.place, handle=problem.handle)
        return out
