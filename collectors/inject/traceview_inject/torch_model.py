"""Names of a PyTorch program's layers and facts of the job: model, versions, devices, flags.

Invariant: it only looks. Nothing of the program is kept alive (ids are checked by weak references) or changed, and a
fact that this version of torch does not tell is left out.
"""

import time
import warnings
import weakref

import torch

from traceview_inject import onednn, processor, ranks, raw
from traceview_inject.torch_compiled import compilations

# Modules that wrap a model, and what they and others put into a path: no part of a layer's name.
WRAPPERS = ("DataParallel", "DistributedDataParallel", "OptimizedModule", "FullyShardedDataParallel")
# Elements looked at in one go: what that needs beside the model is a few megabytes.
PIECE = 1 << 20
# What optimizers keep of squared gradients: they take its square root in each step.
SQUARES = ("exp_avg_sq", "max_exp_avg_sq", "square_avg", "sum")
# Elements that one thread computes by itself, on which the cost of denormal numbers is measured, and how often.
TRIED, TIMES = 1 << 14, 5
# Tensors of which memory is noted one by one, the largest first.
MOST_HELD = 4000
# Layers that no optimizer trains, by name.
MOST_UNTRAINED = 2000
DENORMAL = 1e-40
# Bytes copied to measure the memory: twice the last cache, within these bounds, where the machine has room for many.
COPIED, ROOM = (1 << 26, 1 << 28), 16
HIDDEN = {"_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"}


class Names:
    """The label of each module: its qualified name within its outermost module, and its class.

    The first model's names stand alone; a second model (a GAN has two) puts its class before them. A model itself is
    called like its class.
    """

    def __init__(self):
        self.labels = {}
        self.roots = {}
        self.models = []

    def learn(self, root):
        """Name the modules under `root`; True when it was not known."""
        known = self.roots.get(id(root))
        if known is not None and known[0]() is root:
            return False
        model = unwrap(root)
        name, prefix = own_name(model), ""
        if next(model.children(), None) is not None and not getattr(root, "_is_replica", False):
            kind = type(model).__name__
            same = self.models.count(kind)
            name = f"{kind}#{same + 1}" if same else name
            if self.models and not self._is_named(model):
                prefix = f"{name if same else kind}."
            self.models.append(kind)
        self.roots[id(root)] = (weakref.ref(root), prefix, name)
        self._name_modules(model, prefix, name)
        return True

    def learn_again(self):
        """Name also the modules that models made during their first steps."""
        for reference, prefix, name in list(self.roots.values()):
            root = reference()
            if root is not None:
                self._name_modules(unwrap(root), prefix, name)

    def label(self, module):
        """The name of a module's range; None for what only wraps another."""
        known = self.labels.get(id(module))
        if known is None or known[0]() is not module:
            self._name(module, own_name(module))
            known = self.labels[id(module)]
        return known[1]

    def only(self, wanted):
        """Return the names of the outermost modules that `wanted` says yes to; None where it is None."""
        if wanted is None:
            return None
        known = [(label, module()) for module, label in list(self.labels.values()) if label]
        found = []
        for name in sorted(
            label.partition(": ")[2].rpartition(" (")[0] for label, module in known if module and wanted(module)
        ):
            if not found or not name.startswith(found[-1] + "."):
                found.append(name)
        return found[:MOST_UNTRAINED]

    def _is_named(self, model):
        return all(id(module) in self.labels for module in model.modules() if module is not model)

    def _name_modules(self, model, prefix, root_name):
        for path, module in model.named_modules():
            known = self.labels.get(id(module))
            if known is None or known[0]() is not module:
                name = ".".join(part for part in path.split(".") if part not in HIDDEN)
                self._name(module, prefix + name if name else root_name)

    def _name(self, module, name):
        is_wrapper = unwrap(module) is not module
        label = None if is_wrapper else f"traceview.module: {name} ({type(module).__name__})"
        self.labels[id(module)] = (weakref.ref(module), label)


def own_name(module):
    """Return the name of a module that no model around it names: Keras' layers have names of their own."""
    return module.name if is_keras(module) else type(module).__name__


def is_keras(module):
    """Whether a module is a layer of Keras 3 on its torch back-end."""
    return hasattr(type(module), "torch_params") and isinstance(getattr(module, "name", None), str)


def unwrap(module):
    """The user's model inside data-parallel and compile wrappers."""
    while type(module).__name__ in WRAPPERS and next(module.children(), None) is not None:
        module = next(module.children())
    return module


def n_parameters(root, parameters):
    """Number of elements of `parameters`; where FSDP shards them, of which this process holds a part, of all parts."""
    handles = [getattr(module, "_handle", None) for module in root.modules()]
    flat = [handle.flat_param for handle in handles if hasattr(handle, "flat_param")]
    parts = {id(part) for each in flat for part in (each, *(each._params or ()))}
    whole = sum(shape.numel() for each in flat for shape in each._shapes)
    return whole + sum(parameter.numel() for parameter in parameters if id(parameter) not in parts)


class Facts:
    """Collects, while the program runs, what `rank-NNNN.meta.json` says about it."""

    def __init__(self):
        # Outermost modules, as weak references, and what is told of each; the same by model, and whether it was told
        # when that was trained; and of the one that runs.
        self.seen, self.told, self.running = [], weakref.WeakKeyDictionary(), None
        self.warnings = []
        self.rank = self.world_size = None
        # Optimizers whose `step` was seen, and, as keys in their order, all that were made.
        self.optimizers, self.made = weakref.WeakSet(), weakref.WeakKeyDictionary()
        # Forward passes in evaluation mode; of them with gradients that no backward pass used, and that one may have
        # used; and, by model, with gradients that one may yet use.
        self.passes, self.unused, self.maybe_used, self.waiting, self.has_backward = 0, 0, 0, {}, False
        # Batches by the settings of the DataLoader that gave them, while recording, and whether a backward pass used
        # them; those of which that is not known yet, and whether a pass since may train (None without a pass).
        self.loaders, self.loaded, self.may_train = {}, [], None
        # Whether recording has begun, and whether the next tensor tells of the model that is called.
        self.is_heard, self.asks = False, False
        # All models, by id, where what they hold in memory is noted: when recording begins, and when it ends.
        self.roots = None
        self.memory = {}

    def see_model(self, root):
        """An outermost module is called. Its first call tells of it, and in its place the first one that trains it, and
        in that one's place the first of these since recording began: a validation or a trial before has a batch and a
        precision of its own. Of more since then the largest batch counts: the last one of an epoch may be smaller."""
        model, trains = unwrap(root), root.training and torch.is_grad_enabled()
        told, is_trained = self.told.get(model, (None, False))
        if told is None or (trains and not is_trained):
            parameters = list(model.parameters())
            if any(torch.nn.parameter.is_lazy(parameter) for parameter in parameters):
                return  # It tells of itself once its first call has given these a shape.
            if is_keras(model):  # It keeps the states of random generators as parameters too.
                parameters = [variable.value for variable in model.trainable_variables]
            told = told or {}
            told.update(
                name=type(model).__name__,
                parameters=n_parameters(root, parameters),
                parameter_dtypes=sorted({_short(parameter.dtype) for parameter in parameters}),
                autocast_dtype=_autocast_dtype(),
                batch=None,
                input=None,
            )
            if model not in self.told and (told["parameters"] or not self.seen):
                self.seen.append((weakref.ref(model), told))
            self.told[model] = told, trains
        if told["parameters"] or self.running is None:
            self.running = told
            self.asks = told["input"] is None or (self.is_heard and trains)

    def chosen(self):
        """The model and what is told of it: the largest that an optimizer trains, or else the largest (an optimizer
        may train copies); None twice where none was called."""
        trained, known = self.trained(), [(reference(), told) for reference, told in self.seen]
        own = [it for it in known if it[0] is not None and any(id(each) in trained for each in it[0].parameters())]
        return max(own or known, key=lambda it: it[1]["parameters"], default=(None, None))

    def trained(self):
        """The ids of the parameters that optimizers have."""
        return {id(it) for each in list(self.made) for group in each.param_groups for it in group["params"]}

    def see_input(self, inputs):
        """The first tensor that reaches the model, or, where that takes none, one of its layers."""
        told = self.running
        if told is None or not self.asks:
            return
        for value in inputs:
            for tensor in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(tensor, torch.Tensor) and tensor.dim() and tensor.device.type != "meta":
                    tensor = _of_all_samples(tensor)
                    shape = [_size(tensor, axis) for axis in range(tensor.dim())]
                    self.asks = False
                    if told["input"] is not None and not _is_more(shape[0], told["input"]["shape"][0]):
                        return
                    # One of several images may be of other axes than a batch.
                    told["batch"] = None if isinstance(value, (list, tuple)) and len(shape) == 3 else shape[0]
                    told["input"] = {
                        "shape": shape,
                        "dtype": _short(tensor.dtype),
                        "device": str(tensor.device),
                        "memory_format": _memory_format(tensor),
                    }
                    return

    def see_recurrent(self, module, inputs):
        """A module is called: where it is a recurrent one with time as its first axis and has the first two axes of the
        model's input, the second one is the batch."""
        if not isinstance(module, torch.nn.RNNBase) or module.batch_first or not self.running:
            return
        given, told = next(iter(inputs), None), self.running["input"]
        if told is None or not isinstance(given, torch.Tensor) or given.dim() != 3:
            return
        if told["shape"][:2] == [_size(given, axis) for axis in (0, 1)]:
            self.running["batch"] = told["shape"][1]

    def see_pass(self, root):
        """An outermost module was called. Passes in evaluation mode before one in training mode had no backward pass,
        unless that ran before."""
        is_trainable = any(parameter.requires_grad for parameter in root.parameters())
        learns = torch.is_grad_enabled() and is_trainable
        if is_trainable:  # A transform of images or a frozen teacher is no validation.
            self.may_train = self.may_train or (learns and root.training)
        if root.training:
            self.unused += self.waiting.pop(id(root), 0)
            return
        self.passes += 1
        if learns:
            self.waiting[id(root)] = self.waiting.get(id(root), 0) + 1

    def see_backward(self):
        """A backward pass begins: it may be of any pass before."""
        self.has_backward = True
        self.maybe_used += sum(self.waiting.values())
        self.waiting.clear()
        self._count_batches(True)

    def untrained(self):
        """Whether a module's parameters ask for gradients and no optimizer has any of them; as a function. None
        where that does not tell: optimizers train copies (mixed precision, sharding), or the program itself trains."""
        trained, (root, _) = self.trained(), self.chosen()
        if not self.optimizers or root is None or not any(id(it) in trained for it in root.parameters()):
            return None

        def is_untrained(module):
            own = [it for it in module.parameters() if it.requires_grad]
            return bool(own) and not any(id(it) in trained for it in own)

        return is_untrained

    def see_loader(self, iterator):
        """A DataLoader's iterator has given a batch; batches are pinned only where there is an accelerator."""
        settings = tuple(
            (name, getattr(holder, attribute, None))
            for name, holder, attribute in (
                ("workers", iterator, "_num_workers"),
                ("prefetch_factor", iterator, "_prefetch_factor"),
                ("pin_memory", iterator, "_pin_memory"),
                ("persistent_workers", iterator, "_persistent_workers"),
                ("batch", getattr(iterator, "_index_sampler", None), "batch_size"),
            )
        )
        if self.may_train is False:
            self._count_batches(False)
        self.loaded.append(settings)

    def _count_batches(self, trains):
        """Count the batches since the last backward pass or validation, which a loop may fetch ahead or from several
        loaders. Gradients do not tell: a validation may turn them off only when it has its batch."""
        for settings in self.loaded:
            known = (*settings, ("trains", trains))
            self.loaders[known] = self.loaders.get(known, 0) + 1
        self.loaded, self.may_train = [], None

    def see_job(self):
        """Recording begins: note rank and size of the job, while its process group still exists, and hear of models
        anew."""
        self.is_heard = True
        for model, (told, _) in list(self.told.items()):
            self.told[model] = told, False
        distributed = torch.distributed
        if distributed.is_available() and distributed.is_initialized():
            self.rank, self.world_size = distributed.get_rank(), distributed.get_world_size()
        else:
            self.rank, self.world_size = ranks.launched()
        self._see_memory("start")

    def _see_memory(self, when):
        if self.roots is not None:
            models = [
                unwrap(root) for root in (reference() for reference, _, _ in self.roots.values()) if root is not None
            ]
            self.memory[when] = _told(lambda: held(models, self.optimizers))

    @property
    def runs_ahead(self):
        """Whether the program goes on while a device computes."""
        return torch.cuda.is_available() and torch.cuda.is_initialized()

    def synchronize(self):
        """Wait for what the program has given to a GPU."""
        if self.runs_ahead:
            torch.cuda.synchronize()

    def arrays(self):
        """Content and norm of each parameter that models or optimizers have."""
        models = [model for model in (reference() for reference, _ in self.seen) if model is not None]
        known = [it for model in models for it in model.parameters()]
        known += [it for each in list(self.made) for group in each.param_groups for it in group["params"]]
        with torch.no_grad():
            for parameter in {id(it): it for it in known}.values():
                here = parameter.detach().cpu().contiguous()
                norm = float(torch.linalg.vector_norm(here.to(torch.float64)))
                yield here.view(-1).view(torch.uint8).numpy().tobytes(), norm

    def collect(self, logs, uses_cuda):
        """All of it as one dictionary; `logs` are (path, suffix) of the logs beside the trace."""
        facts = raw.process_facts()
        waiting = sum(self.waiting.values())
        root, model = self.chosen()
        self._see_memory("end")
        self._count_batches(self.may_train is not False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if model is not None and not uses_cuda:
                model["denormal"] = _told(lambda: denormal(root, self.optimizers))
                facts["copy_bytes_per_s"] = _told(copy_rate)
            facts.update(
                framework="torch",
                framework_version=torch.__version__,
                cuda_version=torch.version.cuda,
                hip_version=getattr(torch.version, "hip", None),
                cudnn_version=_told(torch.backends.cudnn.version) if uses_cuda else None,
                **built(_told(torch.__config__.show)),
                onednn_version=next((onednn.version(path) for path, suffix in logs if suffix == "onednn.log"), None),
                device="cuda" if uses_cuda else "cpu",
                devices=[torch.cuda.get_device_name(torch.cuda.current_device())] if uses_cuda else [facts["cpu"]],
                threads=torch.get_num_threads(),
                interop_threads=torch.get_num_interop_threads(),
                flags=flags(),
                model=model,
                loaders=[dict(settings, batches=batches) for settings, batches in self.loaders.items()],
                compiled=_told(compilations),
                evaluated={
                    "passes": self.passes,
                    "with_gradients": self.unused + (0 if self.has_backward else waiting),
                    "maybe_used": self.maybe_used + (waiting if self.has_backward else 0),
                },
                world_size=self.world_size or 1,
                warnings=self.warnings,
            )
            if self.memory:
                facts["memory"] = self.memory
        return facts


def held(models, optimizers):
    """Memory of parameters, buffers, gradients and the state of optimizers: kind, name, number of the device (None for
    the host), address and bytes of each storage, the largest first."""
    found, names = {}, {}

    def note(kind, name, tensor):
        if not isinstance(tensor, torch.Tensor) or tensor.device.type == "meta":
            return
        storage = getattr(tensor, "_local_tensor", tensor).untyped_storage()
        device = None if tensor.device.type == "cpu" else tensor.device.index
        if storage.data_ptr() and storage.nbytes():
            found.setdefault((device, storage.data_ptr()), [kind, name, device, storage.data_ptr(), storage.nbytes()])

    for model in models:
        for name, parameter in model.named_parameters():
            names.setdefault(id(parameter), name)
            note("parameter", name, parameter)
            note("gradient", name, parameter.grad)
        for name, buffer in model.named_buffers():
            note("buffer", name, buffer)
    for optimizer in list(optimizers):
        for parameter, state in list(optimizer.state.items()):
            for key, value in state.items() if isinstance(state, dict) else ():
                note("optimizer_state", "{}.{}".format(names.get(id(parameter), "?"), key), value)
    return sorted(found.values(), key=lambda row: -row[4])[:MOST_HELD]


def built(text):
    """The compiler, oneDNN and library of matrix products that a build of torch names in its account of itself."""
    found = {}
    for line in (text or "").splitlines():
        line = line.strip(" -")
        if line.split(" ")[0] in ("GCC", "clang", "MSVC"):
            found["compiler"] = line
        elif line.startswith("Build settings:"):
            named = [part.strip().partition("=") for part in line[len("Build settings:") :].split(",")]
            found.setdefault("blas", next((value for name, _, value in named if name == "BLAS_INFO"), None))
        elif line.startswith("Intel(R) MKL-DNN "):
            found["onednn_built"] = line.split()[2].lstrip("v")
        elif "Math Kernel Library" in line:
            found["blas"] = " ".join(line.split(" for ")[0].split())
    return found


def flags():
    """The switches of torch that choose between algorithms or precisions, by name; those that it has."""
    found = {
        "cudnn.enabled": _told(lambda: torch.backends.cudnn.enabled),
        "cudnn.benchmark": _told(lambda: torch.backends.cudnn.benchmark),
        "cudnn.deterministic": _told(lambda: torch.backends.cudnn.deterministic),
        "cudnn.allow_tf32": _told(lambda: torch.backends.cudnn.allow_tf32),
        "cuda.matmul.allow_tf32": _told(lambda: torch.backends.cuda.matmul.allow_tf32),
        "float32_matmul_precision": _told(torch.get_float32_matmul_precision),
        "deterministic_algorithms": _told(torch.are_deterministic_algorithms_enabled),
        "mkldnn.enabled": _told(lambda: torch.backends.mkldnn.enabled),
        "nnpack.enabled": _told(torch._C._get_nnpack_enabled),
        "cpu.flush_denormal": _told(lambda: float(torch.tensor(1e-40) * 1.0) == 0),
    }
    return {name: value for name, value in found.items() if value is not None}


def denormal(model, optimizers=()):
    """How many elements of a model's parameters, their gradients and what optimizers keep of them are denormal, of how
    many; of them squares of which roots are taken one by one, and what these cost here (see `denormal_cost`). None
    without a model."""
    if model is None:
        return None
    found = elements = squares = 0
    with torch.no_grad():
        held = [(None, tensor) for parameter in model.parameters() for tensor in (parameter.data, parameter.grad)]
        for optimizer in optimizers:
            # Fused ones take roots by the processor's own instruction, which denormal numbers do not slow down.
            is_fused = any(group.get("fused") for group in optimizer.param_groups)
            for state in list(optimizer.state.values()):
                held += [(None if is_fused else name, tensor) for name, tensor in state.items()]
        for name, tensor in held:
            if not isinstance(tensor, torch.Tensor) or tensor.dtype not in (torch.float32, torch.float64):
                continue
            n = n_denormal(tensor.detach())
            found += n
            squares += n if name in SQUARES else 0
            elements += tensor.numel()
        counted = {"elements": elements, "denormal": found, "squares": squares}
        if found:
            counted.update(denormal_cost())
    return counted


def n_denormal(tensor):
    """Elements that are too small for a normal number."""
    smallest, found = torch.finfo(tensor.dtype).tiny, 0
    for piece in tensor.reshape(-1).split(PIECE):
        size = piece.abs()
        found += int(((size > 0) & (size < smallest)).sum())
    return found


def denormal_cost():
    """Measure how much longer a square root and a product take on a denormal number than on a normal one."""
    found = {}
    for name, function in (("sqrt_ns", torch.sqrt), ("multiply_ns", lambda tensor: tensor.mul(0.9))):
        times = [[], []]
        for _ in range(TIMES):
            for place, value in enumerate((1.0, DENORMAL)):
                tensor = torch.full((TRIED,), value)
                begin = time.perf_counter()
                function(tensor)
                times[place].append(time.perf_counter() - begin)
        found[name] = 1e9 * max(0.0, min(times[1]) - min(times[0])) / TRIED
    return found


def copy_rate():
    """Bytes per second that the fastest of a few copies reads and writes, of more than the caches hold; None where the
    system does not tell that there is room for it."""
    cache, room = processor.last_cache(), processor.available_memory()
    size = min(max(2 * (cache or 0), COPIED[0]), COPIED[1])
    if room is None or room < ROOM * size:
        return None
    source = torch.ones(size // 4)
    target, times = torch.empty_like(source), []
    for _ in range(TIMES):
        begin = time.perf_counter()
        target.copy_(source)
        times.append(time.perf_counter() - begin)
    return round(2 * size / min(times))


def _told(ask):
    try:
        return ask()
    except Exception:  # Flags come, go and contradict each other between versions of torch.
        return None


def _short(dtype):
    return str(dtype).replace("torch.", "")


def _autocast_dtype():
    for device in ("cuda", "cpu"):
        if _told(lambda device=device: torch.is_autocast_enabled(device)):
            return _short(torch.get_autocast_dtype(device))
    return None


def _of_all_samples(tensor):
    """The tensor that holds all samples, where `torch.func.vmap` shows a model one; else as it is.

    Over several models, each with a batch, it is that of one.
    """
    functorch = getattr(torch._C, "_functorch", None)
    is_wrapped = getattr(functorch, "is_functorch_wrapped_tensor", lambda tensor: False)
    while is_wrapped(tensor) and tensor.size(0) == 1:
        axis, tensor = functorch.maybe_get_bdim(tensor), functorch.get_unwrapped(tensor)
        tensor = tensor.movedim(axis, 0) if axis > 0 else tensor
    return tensor


def _is_more(size, other):
    """Whether a size is larger than another one; not where one is not known."""
    return isinstance(size, int) and isinstance(other, int) and size > other


def _size(tensor, axis):
    """The size of an axis; "?" where the parts of a nested tensor have different ones."""
    size = _told(lambda: tensor.size(axis))
    return size if isinstance(size, int) else "?"


def _memory_format(tensor):
    for dimensions, name in ((4, "channels_last"), (5, "channels_last_3d")):
        if tensor.dim() == dimensions and not tensor.is_contiguous():
            return name if tensor.is_contiguous(memory_format=getattr(torch, name)) else "strided"
    return "contiguous" if tensor.is_contiguous() else "strided"
