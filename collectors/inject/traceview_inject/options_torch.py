"""Options for a PyTorch program: one function for each, called with `say` when torch was imported.

Invariant: what a function finds chosen by the program itself it leaves alone and says so; a worker of a DataLoader is
left alone.
"""

import functools
import gc
import inspect
import multiprocessing
import os
import sys

import torch
import torch.utils.data

from traceview_inject.options import THE_SAME, change_arguments, content, cores
from traceview_inject.options_models import MODELS, images_in

SMALLEST = 1e-40
MOST_WORKERS = 8


# Threads and numbers


def all_cores(say):
    """As many threads as cores."""
    threads(say, cores())


def one_thread(say):
    """One thread."""
    threads(say, 1)


def threads(say, number):
    """So many threads, whatever the program sets."""
    own, set_threads, process = [], torch.set_num_threads, os.getpid()

    @functools.wraps(set_threads)
    def set_num_threads(wish):
        if os.getpid() != process:
            return set_threads(wish)  # A worker has one thread.
        own.append(wish)
        return set_threads(number)

    def look():
        if torch.get_num_threads() != number:
            set_threads(number)
        instead = f" instead of the script's {own[-1]}" if own else ""
        say(THE_SAME if own and own[-1] == number else f"yes: {torch.get_num_threads()} threads{instead}")

    torch.set_num_threads = set_num_threads
    set_threads(number)
    MODELS.before_each(look)


def flush_denormals(say):
    """Flush to zero: at once, as the threads that are made later inherit it."""
    own, flush = [], torch.set_flush_denormal

    @functools.wraps(flush)
    def set_flush_denormal(mode):
        own.append(bool(mode))
        return flush(True)

    def look():
        flushes = float(torch.tensor(SMALLEST) * 1.0) == 0
        again = ", the script switches it off" if own and not own[-1] else ""
        say(THE_SAME if own and own[-1] else "yes: flushed" + again if flushes else "no: they are not flushed")

    torch.set_flush_denormal = set_flush_denormal
    if not flush(True):
        say("no: this processor cannot")
        return
    MODELS.before_each(look)


def onednn_on(say):
    """oneDNN on in every step."""
    switch(say, torch._C._get_mkldnn_enabled, torch._C._set_mkldnn_enabled, True)


def onednn_off(say):
    """oneDNN off in every step."""
    switch(say, torch._C._get_mkldnn_enabled, torch._C._set_mkldnn_enabled, False)


def cudnn_benchmark(say):
    """cuDNN's search on in every step."""
    switch(say, torch._C._get_cudnn_benchmark, torch._C._set_cudnn_benchmark, True)


def matmul_medium(say):
    """Products may be computed in bfloat16."""
    switch(say, torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "medium")


def tf32(say):
    """TF32 in products and convolutions."""

    def precision():
        return torch.get_float32_matmul_precision() == "high" and torch.backends.cudnn.allow_tf32

    def allow(_):
        torch.set_float32_matmul_precision("high")
        torch.backends.cudnn.allow_tf32 = True

    switch(say, precision, allow, True)


def deterministic_off(say):
    """Algorithms need not be deterministic."""

    def is_asked():
        return torch.are_deterministic_algorithms_enabled() or torch.backends.cudnn.deterministic

    def allow(_):
        torch.use_deterministic_algorithms(False)
        torch.backends.cudnn.deterministic = False

    switch(say, is_asked, allow, False)


def switch(say, get, turn, to):
    """Have a switch in one position whenever a step begins, also where the program turns it back each time."""
    turned = []

    def look():
        before = get()
        if before != to:
            turn(to)
            turned.append(before)
            say(f"yes: it is {get()}, was {turned[0]}")
        elif not turned:
            say("no: it is off already" if to is False else THE_SAME)

    MODELS.before_each(look)


# The model


def channels_last(say):
    """Filters and images in channels_last."""

    def convert(model):
        filters = [parameter for parameter in model.parameters() if parameter.dim() == 4]
        plain = [parameter for parameter in filters if is_plain(parameter)]
        for parameter in plain:
            parameter.data = parameter.data.to(memory_format=torch.channels_last)
        if plain:
            say(f"yes: {len(plain)} of {len(filters)} filters and the images")
        elif filters:
            say(THE_SAME)

    def give(tensor):
        return tensor.to(memory_format=torch.channels_last) if tensor.dim() == 4 and is_plain(tensor) else tensor

    MODELS.before_first(convert)
    MODELS.change_inputs(give)


def is_plain(tensor):
    """Whether the channels of images or filters do not lie side by side."""
    return tensor.stride(1) != 1


def no_input_gradient(say):
    """The model gets its images without a gradient."""

    def give(tensor):
        if not (tensor.requires_grad and tensor.is_leaf) or isinstance(tensor, torch.nn.Parameter):
            return tensor
        say(f"yes: an input of {list(tensor.shape)} required a gradient")
        return tensor.detach()

    MODELS.change_inputs(give, is_first=True)


def garbage_frozen(say):
    """Objects that live when the first model is called are never again looked at for garbage."""

    def freeze(model):
        if frozen:
            return
        frozen.append(gc.get_freeze_count())
        if frozen[0]:
            say(THE_SAME)
            return
        gc.collect()
        gc.freeze()
        say(f"yes: {gc.get_freeze_count()} objects are left alone")

    frozen = []
    MODELS.before_first(freeze)


def compiled(say):
    """The outermost modules compiled."""

    def convert(model):
        done = getattr(model, "_compiled_call_impl", None) is not None
        if done or type(model).__name__ == "OptimizedModule":
            say(THE_SAME)
            return
        call = model._call_impl
        if type(model).__module__.startswith("torch."):
            from torch._dynamo.external_utils import wrap_inline

            call = wrap_inline(call)  # The compiler does not begin in torch's own code.
        model._compiled_call_impl = torch.compile(call)
        asked.append(model)

    def look():
        if asked:
            from torch._dynamo.utils import counters

            graphs = counters["stats"]["unique_graphs"]
            say(f"yes: {graphs} graphs" if graphs else "no: nothing was compiled")

    asked = []
    MODELS.before_first(convert)
    MODELS.after_each(look)


def bf16_autocast(say):
    """Calls of the model in autocast to bfloat16, and its outputs in float32."""

    def around(model, call):
        device = next((parameter.device.type for parameter in model.parameters()), "cpu")
        if torch.is_autocast_enabled(device):
            say(THE_SAME)
            return call()
        with torch.autocast(device, dtype=torch.bfloat16):
            result = call()
        say("yes: the model was called in autocast")
        return images_in(result, lambda tensor: tensor.float() if tensor.dtype == torch.bfloat16 else tensor)

    MODELS.call_within(around)


def single_precision(say):
    """Models, and what they are given, in float32 where the program has float64; their outputs are float64 again."""
    converted = set()

    def convert(model):
        is_double = any(parameter.dtype == torch.float64 for parameter in model.parameters())
        say("yes: the model and what it is given are float32" if is_double else THE_SAME)
        if is_double:
            converted.add(model)
            model._apply(single)

    def around(model, call):
        result = call()
        if model not in converted:
            return result
        return images_in(result, lambda tensor: tensor.double() if tensor.dtype == torch.float32 else tensor)

    MODELS.before_first(convert)
    MODELS.change_inputs(lambda tensor: single(tensor) if converted else tensor)
    MODELS.call_within(around)


def single(tensor):
    """The tensor in float32 where it is float64."""
    return tensor.float() if tensor.dtype == torch.float64 else tensor


# What the program makes


def fused_optimizer(say):
    """Optimizers with fused=True."""

    def change(made, arguments):
        if arguments["fused"]:
            return say(THE_SAME)
        return {"fused": True, "foreach": None}, say

    for kind in optimizers("fused"):
        change_arguments(kind, change)


def foreach_optimizer(say):
    """Optimizers with foreach=True."""

    def change(made, arguments):
        if arguments["foreach"] or arguments.get("fused"):
            return say(THE_SAME if arguments["foreach"] else "no: the script has it fused")
        return {"foreach": True}, say

    for kind in optimizers("foreach"):
        change_arguments(kind, change)


def optimizers(argument):
    """torch's own optimizers that take this argument."""
    kinds = [kind for kind in vars(torch.optim).values() if inspect.isclass(kind)]
    base = torch.optim.Optimizer
    own = [kind for kind in kinds if issubclass(kind, base) and kind is not base and "__init__" in vars(kind)]
    return [kind for kind in own if argument in inspect.signature(kind.__init__).parameters]


def zero_grad_to_none(say):
    """Gradients are dropped."""
    zero_grad(say, True)


def zero_grad_in_place(say):
    """Gradients are zeroed."""
    zero_grad(say, False)


def zero_grad(say, to_none):
    """Every `zero_grad`, of optimizers and modules, drops gradients or does not."""
    for kind in (torch.optim.Optimizer, torch.nn.Module):
        kind.zero_grad = zeroing(say, kind.zero_grad, to_none)


def zeroing(say, function, to_none):
    """`zero_grad` that drops gradients, or does not."""

    @functools.wraps(function)
    def call(self, set_to_none=True):
        say(THE_SAME if set_to_none == to_none else f"yes: set_to_none={to_none} in {type(self).__name__}")
        return function(self, set_to_none=to_none)

    return call


def loader_workers(say):
    """DataLoaders with workers."""

    def change(made, arguments):
        if arguments["num_workers"]:
            return say("no: the script sets {} workers".format(arguments["num_workers"]))
        if isinstance(arguments["dataset"], torch.utils.data.IterableDataset):
            return say("no: every worker would read the whole of an iterable data set")
        how = multiprocessing.get_start_method(allow_none=True) or multiprocessing.get_all_start_methods()[0]
        if how != "fork" and not has_guard():
            return say(f'no: workers start by {how}, for which the script needs `if __name__ == "__main__":`')
        return {"num_workers": min(cores(), MOST_WORKERS)}, say

    change_arguments(torch.utils.data.DataLoader, change)


def has_guard():
    """Whether another process may load the script: it asks whether it is the main program, or is not loaded again."""
    main = sys.modules["__main__"]
    path, spec = getattr(main, "__file__", None), getattr(main, "__spec__", None)
    is_left_out = path is None or (spec is not None and spec.name.endswith("__main__"))
    return is_left_out or "__main__" in content(path)


def loader_persistent(say):
    """DataLoaders whose workers stay."""

    def change(made, arguments):
        if arguments["persistent_workers"] or not arguments["num_workers"]:
            return say(THE_SAME if arguments["num_workers"] else "no: the script's DataLoaders have no workers")
        return {"persistent_workers": True}, say

    change_arguments(torch.utils.data.DataLoader, change)


def loader_pin_memory(say):
    """DataLoaders that give pinned batches."""
    change_arguments(torch.utils.data.DataLoader, choosing(say, "pin_memory", True))


def ddp_large_buckets(say):
    """Buckets of 100 MB."""
    change_arguments(torch.nn.parallel.DistributedDataParallel, choosing(say, "bucket_cap_mb", 100))


def ddp_small_buckets(say):
    """Buckets of 5 MB."""
    change_arguments(torch.nn.parallel.DistributedDataParallel, choosing(say, "bucket_cap_mb", 5))


def ddp_static_graph(say):
    """A graph that does not change."""
    change_arguments(torch.nn.parallel.DistributedDataParallel, choosing(say, "static_graph", True))


def ddp_bucket_view(say):
    """Gradients in the buckets."""
    change_arguments(torch.nn.parallel.DistributedDataParallel, choosing(say, "gradient_as_bucket_view", True))


def choosing(say, name, value):
    """A change of one argument, where the program gave none or the default."""

    def change(made, arguments):
        if arguments[name]:
            return say(f"no: the script sets {name}={arguments[name]}")
        return {name: value}, say

    return change
