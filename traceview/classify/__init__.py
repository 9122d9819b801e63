"""Names -> meaning: GPU kernels, CPU library primitives and framework operators, alone and in their call.

Invariant: every opinion is a rule in a `.toml` file beside this module; the first rule that matches wins.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache

from traceview.classify.context import Situation, decide
from traceview.classify.names import leaf
from traceview.classify.parts import agreed, expand, tokens_by_part
from traceview.classify.rules import RuleSet, Verdict, library_of

PRIMITIVE = re.compile(r"^[a-z_0-9]+,[^,<>()]*,\w*$|^nnp_|^[xy]nn_\w|\((?:NHWC|NCHW|NC), [A-Z0-9]+\)")
SPOKEN = re.compile(r"([a-z]\w*) ([a-z]\w*(?:[:+]\w+)+)(?: (forward\w*|backward\w*|undef))?")
"""A primitive as reports write it: `reorder jit:uni`."""
OP = re.compile(
    r"^(?:aten|autograd|torch|c10d|prims|_?quantized|onednn|sparse|mkl|xnnpack|prepacked|mkldnn\w*)::\w|^(?:nccl|gloo|mpi|ucc|xccl|hccl):\w|Backward\d?$|^Optimizer\.|^[\w.-]+/[\w./-]+(?::\w+)?$"
)


@cache
def rules(file: str) -> RuleSet:
    """The rules of `kernels.toml`, `primitives.toml`, `ops.toml` or `hlo.toml`, read once per process."""
    return RuleSet(file)


@lru_cache(maxsize=1 << 17)
def classify_kernel(name: str) -> Verdict:
    """Classify a GPU kernel, copy or fill from its name alone, in any spelling a profiler gives it."""
    verdict = rules("kernels.toml").verdict(name)
    return verdict if verdict.library else replace(verdict, library=library_of(name))


@lru_cache(maxsize=1 << 14)
def classify_primitive(primitive: str, implementation: str | None = None, prop_kind: str | None = None) -> Verdict:
    """Classify a CPU library primitive: three fields of oneDNN's verbose log, or one text `kind,impl,prop_kind`."""
    name = primitive if implementation is None else f"{primitive},{implementation},{prop_kind or 'undef'}"
    return rules("primitives.toml").verdict(name)


@lru_cache(maxsize=1 << 16)
def classify_op(name: str) -> Verdict:
    """Classify a framework operator (`aten::conv2d`, `ConvolutionBackward0`, `model/conv1/Conv2D`, `Convolution`)."""
    return rules("ops.toml").verdict(leaf(name))


@lru_cache(maxsize=1 << 12)
def classify_hlo(kind: str) -> Verdict:
    """Classify an XLA instruction by its opcode and what is known of it (`ynn convolution wgrad`, `iota`)."""
    return rules("hlo.toml").verdict(kind)


def classify_name(name: str) -> Verdict:
    """Classify a name of unknown kind by its shape: in doubt a kernel, or an operator if it does not say kernel."""
    if PRIMITIVE.search(name):
        return classify_primitive(name)
    if spoken := SPOKEN.fullmatch(name):
        return classify_primitive(*spoken.groups())
    if OP.search(name):
        return classify_op(name)
    verdict = classify_kernel(name)
    if verdict.category == "other" and re.fullmatch(r"(?!\w*kernel)_?[A-Za-z]\w*", name):
        as_op = classify_op(name)
        return verdict if as_op.category == "other" else as_op
    return verdict


@cache
def tokens() -> frozenset[str]:
    """Every token that `signature` can give, without direction suffixes."""
    return frozenset(token for rule in rules("kernels.toml").rules for token in rule.tokens) | {"main"}


@lru_cache(maxsize=1 << 17)
def signature(name: str) -> frozenset[str]:
    """Return what a kernel shows about others of its call: tokens such as `im2col`, `gemm`, `fft:wgrad`, `main`.

    The suffix is the pass the name gives; `:data` means forward or data gradient. Kernels that say nothing give none.
    """
    rule, direction = rules("kernels.toml").find(name)
    way = direction or ("data" if "data" in rule.tokens else None)
    own = {token for token in rule.tokens if token != "data"} | ({"main"} if rule.role == "main" else set())
    return frozenset(f"{token}:{way}" if way else token for token in own)


def classify_in_context(name: str, op: str | None, siblings: Sequence[str] | None = None) -> Verdict:
    """Classify a kernel in its call.

    `op`: the launching operator, callers after ` < ` when known (`aten::copy_ < aten::_to_copy`). `siblings`: the names
    of all kernels of the same operator instance in launch order, this one included or not, or the tokens of their
    signatures (then order is lost, and one call should hold one direction); None when the call's kernels are not known.
    """
    if siblings is None:
        return decide(situation(name, op, frozenset()))
    if all(text.partition(":")[0] in tokens() for text in siblings):
        return decide(situation(name, op, expand(siblings) | expand(signature(name)) | {"known"}))
    names = tuple(siblings)
    around = tokens_by_part([expand(signature(text)) for text in names])
    places = [index for index, text in enumerate(siblings) if text and text in name] or range(len(siblings))
    verdicts = {decide(situation(name, op, around[place] | expand(signature(name)), names)) for place in places}
    if len(verdicts) == 1:
        return verdicts.pop()
    call = frozenset[str]().union(*(around[place] for place in places))
    return decide(situation(name, op, call | expand(signature(name)), names))


@lru_cache(maxsize=1 << 16)
def classify_call(op: str | None, names: tuple[str, ...]) -> tuple[Verdict, ...]:
    """One verdict per kernel of one operator instance, `names` in launch order: the whole call decides.

    A backward call is cut into its data gradient and its filter gradient first; a double backward holds forward passes.
    """
    tokens = [expand(signature(name)) for name in names]
    parts = tokens_by_part(tokens)
    verdicts = [decide(situation(name, op, part, names)) for name, part in zip(names, parts, strict=True)]
    called = (op or "").lower().replace("double_backward", "")
    is_backward = "backward" in called and classify_op(op or "").direction is None
    return tuple(agreed(verdicts, tokens, is_backward=is_backward))


def situation(name: str, op: str | None, call: frozenset[str], names: tuple[str, ...] = ()) -> Situation:
    """A kernel in a call of which the tokens are known, and perhaps the names."""
    return Situation(
        name=name,
        own=classify_kernel(name),
        own_tokens=expand(signature(name)),
        op=op or "",
        op_verdict=classify_op(op) if op else None,
        call=call,
        names=names,
    )
