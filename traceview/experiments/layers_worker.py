"""Finds the convolutions of a model in the Python of the user, as `python layers_worker.py FILE.py FUNCTION SHAPE`.

The function returns a model, or a model and its inputs; without inputs it is given an image of the shape. It runs once,
forward, with one image; each convolution that PyTorch executes becomes a line of JSON on stdout, in order.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any


def called(file: Path, function: str) -> tuple[Any, tuple[Any, ...]]:
    """The model and its inputs, which may be none."""
    sys.path.insert(0, str(file.resolve().parent))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    if not callable(getattr(module, function, None)):
        raise SystemExit(f"{file} has no function {function}")
    made = getattr(module, function)()
    model, *inputs = made if isinstance(made, tuple) else (made,)
    if not hasattr(model, "named_modules"):
        raise SystemExit(f"{function}() returned {type(model).__name__}, not a torch.nn.Module")
    return model, tuple(inputs)


def convolutions(model: Any, inputs: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Each convolution that runs in a forward pass, with the module that it runs in."""
    import torch
    from torch.utils import _python_dispatch

    mode: Any = _python_dispatch.TorchDispatchMode

    names: list[str] = []
    found: list[dict[str, Any]] = []

    class Watch(mode):  # type: ignore[misc]
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if function is torch.ops.aten.convolution.default:
                found.append(_facts(names[-1] if names else "", args))
            return function(*args, **(kwargs or {}))

    for name, module in model.named_modules():
        module.register_forward_pre_hook(lambda *_, name=name: names.append(name))
        module.register_forward_hook(lambda *_: names.pop() and None)
    model.eval()
    with torch.no_grad(), Watch():
        model(*inputs)
    return found


def _facts(name: str, args: Any) -> dict[str, Any]:
    image, filters, _, stride, padding, dilation, transposed, _, groups = args[:9]
    shapes = {"input": list(image.shape), "filter": list(filters.shape), "stride": list(stride)}
    rest = {"padding": list(padding), "dilation": list(dilation), "transposed": bool(transposed), "groups": groups}
    return {"layer": name or "convolution", "dtype": str(image.dtype).rpartition(".")[2], **shapes, **rest}


def main(arguments: list[str]) -> None:
    """Print what is found."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # What the model prints is for people.
    here = Path(__file__).resolve().parent
    sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != here]
    file, function, shape = arguments
    model, inputs = called(Path(file), function)
    if not inputs:
        import torch

        inputs = (torch.randn(1, *map(int, shape.split("x"))),)
    for facts in convolutions(model, inputs):
        print(json.dumps(facts), file=answers)


if __name__ == "__main__":
    main(sys.argv[1:])
