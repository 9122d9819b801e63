"""Names of kernels and operators: the function's own name, its template arguments, and how frameworks spell operators.

Invariant: a mangled name is read into the words of its demangled form, in their order; a type that is only referred to
(`S1_`) is left out, and what cannot be read is kept as it is.
"""

from __future__ import annotations

import re

_BUILTIN = (
    "v=void, b=bool, c=char, a=signed char, h=unsigned char, s=short, t=unsigned short, i=int, j=unsigned int, l=long, "
    "m=unsigned long, x=long long, y=unsigned long long, f=float, d=double"
)
BUILTIN = dict(pair.split("=") for pair in _BUILTIN.split(", "))
TOKEN = re.compile(
    r"(\d+)|(L[a-z]n?\d+E)|((?:S[0-9A-Z]*_|S[tabsiod]|T[0-9A-Z]*_|A\d*_|DF\d+[_b]|Dv\d+_|D[a-z]|C[123]|D[012]|[PRKVO])+)"
    r"|(Ul|L_Z|[NIJXZFL])|(E(?:\d*_)?)|(.)",
    re.DOTALL,
)
NUMBER, LITERAL, SKIPPED, OPEN, CLOSE, LETTER = range(1, 7)
"""Groups of `TOKEN`: a length or a value, a literal, what says nothing here, the two ends of a group, a type's code."""
BRACKET = re.compile(r"[<>()]")
ANONYMOUS = "(anonymous namespace)"


def own(name: str) -> str:
    """A demangled name without what stands in its brackets; the brackets stay.

    >>> own("void phi::ReduceKernel<float, phi::AddFunctor<float> >(float const*)")
    'void phi::ReduceKernel<>()'
    >>> own("void (anonymous namespace)::Fill<4>::run(int)")
    'void (anonymous namespace)::Fill<>::run()'
    >>> own("void cut_off<float, at::nat...")
    'void cut_off<>'
    """
    parts: list[str] = []
    depth = start = 0
    for bracket in BRACKET.finditer(name):
        at = bracket.start()
        if bracket[0] in "<(":
            if depth == 0:
                if name.startswith(ANONYMOUS, at) or name.startswith("<unnamed>", at):
                    continue
                parts.append(name[start:at] + ("<>" if bracket[0] == "<" else "()"))
            depth += 1
        elif depth:
            depth -= 1
            start = at + 1
            if depth == 0 and bracket[0] == ")":
                break
    return "".join(parts) + (name[start:] if not depth else "")


def head(name: str) -> str:
    """The function's own name, mangled or not: as `own` without `void`, a mangled one's without brackets.

    A task of Ascend is called by the interface, one of its functions, and the operation that ran.

    >>> head("_ZN5cudnn6detail12dgrad_engineIfLi128EEEviii")
    'cudnn::detail::dgrad_engine'
    >>> head("aclnnMatmul_TransposeAiCore_Transpose")
    'Transpose'
    """
    if name.startswith("aclnn"):
        return name.rpartition("_")[2]
    return Reading(name, is_head=True).text if name.startswith("_Z") else own(name).removeprefix("void ")


def readable(name: str) -> str:
    """A mangled name (`_Z...`) in the words of its demangled form, without parameters; any other name as it is.

    >>> readable("_Z21kernelPointwiseApply2I6CopyOpIf6__halfEfjLi2EEv10OffsetInfoIT0_E")
    'kernelPointwiseApply2<CopyOp<float, __half>, float, unsigned int, 2>'
    >>> readable("_ZN2at6native12_GLOBAL__N_14fillIL9ggml_type12EEEvT_")
    'at::native::(anonymous namespace)::fill<ggml_type, 12>'
    >>> readable("volta_sgemm_64x64_nn")
    'volta_sgemm_64x64_nn'
    """
    return Reading(name).text if name.startswith("_Z") else name


class Reading:
    """One walk over a mangled name: `text` is what was read, the whole of it or up to the first template argument."""

    def __init__(self, name: str, *, is_head: bool = False) -> None:
        self.parts: list[str] = []
        self.scopes: list[str] = []
        self.after = ""
        """Kind of the last token: a word, or nothing that a word continues."""
        self.is_named = False
        """The function's name and its template arguments are complete; what follows are parameters."""
        at = 2
        while at < len(name) and not self.is_named:
            token = TOKEN.match(name, at)
            if token is None or (is_head and token[0] == "I"):
                break
            at = token.end() if token.lastindex == SKIPPED else self.take(name, token)
        self.text = "".join(self.parts)

    def take(self, name: str, token: re.Match[str]) -> int:
        """Read one token; returns where the next one starts."""
        kind, text, end = token.lastindex, token[0], token.end()
        if kind == NUMBER:
            if text[0] == "0" or (self.after == "word" and self.scopes and self.scopes[-1] == "L"):
                self.word(text)
            else:
                return self.identifier(name, text, end)
        elif kind == LITERAL:
            self.word(text[2:-1].replace("n", "-"))
        elif kind == OPEN:
            self.enter(text)
        elif kind == CLOSE:
            self.leave()
        elif text in BUILTIN and (not self.scopes or self.scopes[-1] in "IJ"):
            self.word(BUILTIN[text])
        return end

    def identifier(self, name: str, digits: str, start: int) -> int:
        """A length and as many characters."""
        end = start + int(digits)
        text = name[start:end]
        self.word(ANONYMOUS if text.startswith("_GLOBAL__N_") else text)
        return end

    def word(self, text: str) -> None:
        """Add a name, a type or a number, with what separates it from the one before."""
        if not self.scopes and not self.is_named and self.parts:
            self.is_named = True
            return
        if self.parts and self.parts[-1] != "<":
            self.parts.append("::" if self.scopes and self.scopes[-1] == "N" and self.after == "word" else ", ")
        self.parts.append(text)
        self.after = "word"

    def enter(self, text: str) -> None:
        """A nested name, template arguments, or another group that an `E` ends."""
        inside = self.scopes[-1] if self.scopes else ""
        if text == "L" and inside not in ("I", "J", "X"):
            return  # Internal linkage, not a literal.
        if text == "I":
            self.parts.append("<")
        elif text == "N" and not self.scopes and self.parts and not self.is_named:
            self.is_named = True
        self.scopes.append(text)
        self.after = ""

    def leave(self) -> None:
        """The innermost group ends."""
        scope = self.scopes.pop() if self.scopes else ""
        if scope == "I":
            self.parts.append(">")
        # A literal's type may be a nested name: what follows is its value.
        is_type = scope == "N" and self.scopes[-1:] == ["L"]
        self.after = "word" if scope in ("I", "L") or is_type else ""


# Operators: what is matched is the operator's own name, never the scopes around it.

WRAPPERS = re.compile(r"^(?:autograd::engine::evaluate_function: |\[[A-Za-z ]+\] ?)+")
SUFFIX = re.compile(r"_\d+$")
TYPED = re.compile(r"^[^:]+:[A-Za-z_]\w*$")
"""TensorFlow's and ONNX Runtime's `name:Type`."""
FUNCTION = re.compile(r"^torch\.(?:nn\.functional\.|Tensor\.)?(?=\w+$)")
"""PyTorch's functions by their Python names, as PyProf writes them."""
VIEW = re.compile(
    r"^aten::(?:transpose|permute|t|adjoint|numpy_T|swap(?:axes|dims)|move(?:dim|axis)|view(?:_as)?|_unsafe_view|as_strided|alias"
    r"|expand(?:_as)?|(?:un)?squeeze|select|slice|narrow|unbind|split(?:_with_sizes)?|chunk|detach|unfold|diagonal)_?$"
    r"|^(?:Transpose|Permute|T|View|Swapdims|Movedim|Alias|Expand|Unsqueeze|Squeeze)Backward\d$"
)
"""PyTorch's operators that only describe a tensor anew."""
REWRITE = re.compile(r"^aten::copy_ < aten::clone < aten::(?:contiguous|reshape|_reshape_copy)(?: |$)")
"""PyTorch's copy of a tensor whose elements stand in another order: an ordered one is not copied there."""
CAST = re.compile(r"^aten::copy_ < aten::_to_copy(?: |$)")
"""PyTorch's copy into another element type; where types are recorded they say whether it is another one."""
BLOCKED = re.compile(r"_nchwc$")
"""ONNX Runtime's name for a node that it moved to its own blocked layout."""
EXCHANGE = re.compile(r"(?:nccl|gloo|mpi|ucc|xccl|hccl):\w")
"""A call of one of PyTorch's process groups: the word before the colon is its backend, not a scope."""
TRANSPOSED = re.compile(r"^(?!.*(?:gradient|_grad/|Backprop\w*:))[^:]*:\w*Conv[23]DBackpropInput(?:V2)?$")
"""TensorFlow's transposed convolution: its type is that of the input gradient of another, which stands in a scope of
gradients and is named after its type."""
OF_TRANSPOSED = re.compile(
    r"(?:gradient|_grad/).*conv(?:[123]d)?_transpose(?:_\d+)?(?:_grad)?/Conv[23]D(?:_\d+)?(?::\w*Conv[23]D)?$"
)
"""Gradient of the input of one: a convolution, in the scope of gradients, below the name of the forward operator."""
JAX_FUNCTION = re.compile(r"/p?jit\((\w*(?:elu|softmax|sigmoid|silu|swish|softplus|dropout)\w*)\)/\w+$")
"""A function of JAX that says more than the primitive it is made of: `jit(step)/jvp(conv1)/jit(relu)/max`."""

KERAS_UPDATE = re.compile(
    r"^(?:(?:Stateful)?PartitionedCall(?:_\d+)?/)*(?:sgd|adam\w{0,2}|rmsprop|adagrad|adadelta|nadam|ftrl|lion|lamb|muon)(?:_\d+)?/[^:]*"
    r":\w+$"
)
"""Keras 3 writes the update of the weights as general arithmetic, in a scope named after its optimizer."""


def leaf(op: str) -> str:
    """The operator's own name, without namespaces, autograd prefixes, TensorFlow scopes, callers and trailing numbers.

    >>> leaf("gradient_tape/model/conv1/Conv2D/Conv2DBackpropFilter")
    'Conv2DBackpropFilter'
    >>> leaf("tower/conv1/convolution:Conv2D")
    'Conv2D'
    >>> leaf("decoder/conv2d_transpose:Conv2DBackpropInput")
    'Conv2DTranspose'
    >>> leaf("gradient_tape/decoder/conv2d_transpose/Conv2D:Conv2D")
    'Conv2DTranspose_input_grad'
    >>> leaf("relu1_nchwc:Conv")
    'Conv_nchwc'
    >>> leaf("aten::transpose < aten::linear")
    'aten::view'
    >>> leaf("aten::copy_ < aten::clone")
    'copy_'
    >>> leaf("aten::copy_ < aten::clone < aten::contiguous")
    'contiguous'
    >>> leaf("aten::copy_ < aten::_to_copy < aten::to")
    '_to_copy'
    >>> leaf("jit(step)/jvp(conv1)/jit(relu)/max")
    'relu'
    >>> leaf("jit(step)/transpose(jvp(conv2))/conv_general_dilated")
    'conv_general_dilated_grad'
    >>> leaf("StatefulPartitionedCall/sgd/Mul_7:Mul")
    'Optimizer.step'
    >>> leaf("gloo:recv")
    'gloo:recv'
    >>> leaf("torch.nn.functional.conv2d")
    'conv2d'
    """
    if REWRITE.match(op):
        return "contiguous"
    if CAST.match(op):
        return "_to_copy"
    name = FUNCTION.sub("", WRAPPERS.sub("", op.split(" < ")[0].strip()))
    if name.startswith("Optimizer.") or EXCHANGE.match(name):
        return name
    if VIEW.match(name):
        return "aten::view"
    if "::" in name:
        return name.rsplit("::", 1)[1] if not name.startswith(("nccl", "c10d")) else name
    function = JAX_FUNCTION.search(name)
    if function:
        return function.group(1)
    if KERAS_UPDATE.match(name):
        return "Optimizer.step"
    if TRANSPOSED.match(name):
        return "Conv2DTranspose"
    if OF_TRANSPOSED.search(name):
        return "Conv2DTranspose_input_grad"
    if TYPED.match(name) or (":" in name and "/" in name):
        scope, kind = name.rsplit(":", 1)
        name = kind if kind and not kind.isdigit() else scope
        if BLOCKED.search(scope):
            name += "_nchwc"
    own = SUFFIX.sub("", name.rsplit("/", 1)[-1])
    # JAX names a gradient after the forward operator and says so in the scope.
    return f"{own}_grad" if own.startswith("conv") and "transpose(" in name else own
