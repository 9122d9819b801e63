"""Keeps torch.compile (Dynamo) out of the collector's code.

While a compiled model runs, Dynamo looks at every Python function that is called, ours too. Invariant: it neither
compiles one of them nor, because of them, the program's own code once more. `torch._dynamo` itself, slow to import, is
not needed for that.
"""

import torch


def kept_from_compiler(function):
    """Have torch.compile skip this function and go on inside, as it does with torch's own code."""
    frames = torch._C._dynamo.eval_frame
    if hasattr(frames, "skip_code"):
        frames.skip_code(function.__code__)
    elif hasattr(frames, "set_code_exec_strategy"):  # torch 2.7 and later
        strategy = frames._FrameExecStrategy(frames._FrameAction.SKIP, frames._FrameAction.DEFAULT)
        frames.set_code_exec_strategy(function.__code__, strategy)
    return function


@kept_from_compiler
def outside_compiler(method, *args):
    """Call a method of the recorder that torch.compile, which may be at work around us, shall not see."""
    compiler = torch._C._dynamo.eval_frame.set_eval_frame(None)
    try:
        return method(*args)
    finally:
        torch._C._dynamo.eval_frame.set_eval_frame(compiler)
