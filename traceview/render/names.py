"""Short names of C++ kernels for people: what a table's names have in common is left out, what tells them apart is not.

`void cudnn::ops::nchwToNhwcKernel<float, float, true>(params)` is `nchwToNhwcKernel` where no other instance of it is
beside it. Invariant: names that differ get labels that differ, and a text that is not a C++ name stays as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from traceview.classify.names import head, readable

LONGEST = 20_000
"""Longer names are not taken apart."""
DEEPEST = 12
"""Templates within templates beyond this are not taken apart."""

_OPEN, _CLOSE = "<([{", ">)]}"
_NAMELESS = re.compile(r"\(anonymous namespace\)::|<unnamed>::|\{anonymous\}::|`anonymous namespace'::")
_INNER = re.compile(r"^(?:[{\[]?'?lambda\b.*|\{.*|operator\W.*|\$_\d+.*|const|_FUN|)$", re.DOTALL)
# Frames that PyTorch, cuTLASS and cub put around the thing itself; alone they say nothing.
_FRAME = re.compile(
    r"(?i)elementwise_kernel|reduce_kernel|^kernel\d?$|globalkernel|device_kernel|^gpu_kernel_impl|unaryfunctor$"
    r"|binaryfunctor$|^ReduceOp$|^func_wrapper|^static_kernel$|^DeviceKernel$"
)
# What frames are given beside that: types of elements and ways to address them.
_DULL = re.compile(r"^(?:[Aa]rray|BFloat16|Half|complex|\w*OffsetCalculator|LoadWith\w+|StoreWith\w+|memory)$")
_NAMED = re.compile(r"::|^\w{20,}$")
_FUNCTION = re.compile(r"(?:void )?[\w.]+\(.*\)", re.DOTALL)
_CAST = re.compile(r"^\([\w: ]+\)(-?\w+)$")


@dataclass(frozen=True)
class Parsed:
    """A name taken apart: what it is called, the namespace of that, its template arguments and what stands behind."""

    base: str
    scope: str
    arguments: tuple[str, ...]
    behind: str


def short(names: Iterable[str]) -> dict[str, str]:
    """Each of these names with its label, as short as it can be among the others."""
    labels = dict.fromkeys(names, "")
    parsed = {name: parse(name) for name in labels}
    plain = [name for name, found in parsed.items() if found is None]
    labels.update({name: _legible(name) for name in plain})
    told = {name: found for name, found in parsed.items() if found is not None}
    alike = list(told)
    for stage in _STAGES:
        groups: dict[str, list[str]] = {}
        for name in alike:
            groups.setdefault(labels[name], []).append(name)
        for group in groups.values():
            labels.update(zip(group, stage(group, [told[name] for name in group]), strict=True))
        taken = Counter(labels.values())
        alike = [name for name in alike if taken[labels[name]] > 1]
        if not alike:
            break
    taken = Counter(labels.values())
    labels.update({name: _legible(name) for name, label in labels.items() if taken[label] > 1})
    while alike := [name for name in labels if labels[name] != name and Counter(labels.values())[labels[name]] > 1]:
        labels.update({name: name for name in alike})
    return labels


def _legible(name: str) -> str:
    """The whole name, a mangled one in the words of its demangled form."""
    return readable(name) or name if len(name) <= LONGEST else name


def parse(name: str) -> Parsed | None:
    """A C++ name taken apart; None for any other text."""
    if len(name) > LONGEST:
        return None
    if name.startswith("_Z"):
        return _parse(readable(name), 0) or _parse(head(name), 0)
    is_signature = ("::" in name and "(" in name) or "<" in name or _FUNCTION.fullmatch(name)
    return _parse(name, 0) if is_signature else None


def _parse(name: str, depth: int) -> Parsed | None:
    components = _components(_NAMELESS.sub("", name).replace("operator ()", "operator()")) if depth < DEEPEST else None
    if not components:
        return None
    at = next((index for index in range(len(components))[::-1] if not _INNER.match(components[index][0])), None)
    if at is None:
        return None
    base, arguments = components[at]
    scope = components[at - 1][0] if at else ""
    return Parsed(base, scope, arguments, "".join(_number(text) for text, _ in components[at + 1 :]))


def _number(text: str) -> str:
    """Return the number that tells a lambda from its neighbours."""
    found = re.search(r"(?:#|instance )(\d+)\W*$", text)
    return f"#{found[1]}" if found else ""


def _components(text: str) -> list[tuple[str, tuple[str, ...]]] | None:
    """Return the parts between the `::` of a name, each with its template arguments; None if brackets do not match."""
    found: list[tuple[str, tuple[str, ...]]] = []
    arguments: tuple[str, ...] = ()
    word, index = "", 0
    while index < len(text):
        char = text[index]
        if char in _CLOSE:
            return None
        if char in _OPEN and not word.endswith("operator"):
            end = _match(text, index)
            if end is None:
                return None
            inside = text[index + 1 : end]
            if char == "<" and word:
                # Twice where a mangled name refers to a template that it has named before.
                arguments += tuple(_split(inside))
            elif char in "{[":
                word += text[index : end + 1]
            index = end + 1
            if char == "(" and word and not text.startswith("::", index):
                rest = text[index:].removeprefix(" const")
                if not rest.startswith("::"):
                    break
                index = len(text) - len(rest)
        elif char in _OPEN:
            word, index = word + "()", index + 2
        elif text.startswith("::", index):
            found.append((word, arguments))
            word, arguments, index = "", (), index + 2
        elif char == " ":
            # What stood before was the type that the function returns.
            if not found or not text.startswith(("const", "["), index + 1):
                found, word, arguments = [], "", ()
            index += 1
        else:
            word, index = word + char, index + 1
    return [*found, (word.strip(), arguments)]


def _match(text: str, start: int) -> int | None:
    """Return the position where the bracket at `start` closes."""
    depth = 0
    for index in range(start, len(text)):
        if text[index] in _OPEN:
            depth += 1
        elif text[index] in _CLOSE and not (text[index] == ">" and text[index - 1] == "-"):
            depth -= 1
            if not depth:
                return index
    return None


def _split(text: str) -> list[str]:
    """The arguments between two brackets."""
    found, depth, start = [], 0, 0
    for index, char in enumerate(text):
        if char in _OPEN:
            depth += 1
        elif char in _CLOSE and text[index - 1 : index + 1] != "->":
            depth -= 1
        elif char == "," and not depth:
            found.append(text[start:index].strip())
            start = index + 1
    return [*found, text[start:].strip()]


def _argument(text: str, form: str, depth: int = 1) -> str:
    """A template argument without namespaces: of a frame what it holds (held), that in its frame (framed), or all."""
    if cast := _CAST.match(text):
        return cast[1]
    found = _parse(text, depth) if "::" in text or "<" in text else None
    if found is None:
        return text
    if form == "all":
        inner = ", ".join(_argument(argument, form, depth + 1) for argument in found.arguments)
        return f"{found.base}{f'<{inner}>' if inner else ''}{found.behind}"
    held = _held(found)
    if held is None:
        return found.base
    inner = _argument(held, form, depth + 1)
    return inner if form == "held" else f"{found.base}<{inner}>"


def _held(found: Parsed) -> str | None:
    """Return the argument of a frame that names something."""
    if not _FRAME.search(found.base):
        return None
    return next((argument for argument in found.arguments if _NAMED.search(argument) and not _is_dull(argument)), None)


def _is_dull(argument: str) -> bool:
    found = _parse(argument, 1)
    return found is not None and bool(_DULL.match(found.base))


def _base(group: Sequence[str], parsed: Sequence[Parsed]) -> list[str]:
    held = [_held(found) for found in parsed]
    return [
        f"{found.base}<{_argument(inner, 'held')}>" if inner else found.base
        for found, inner in zip(parsed, held, strict=True)
    ]


def _with_arguments(form: str) -> Callable[[Sequence[str], Sequence[Parsed]], list[str]]:
    """The base with those arguments in which the names of a group differ, without the dull ones if others do."""

    def stage(group: Sequence[str], parsed: Sequence[Parsed]) -> list[str]:
        most = max(len(found.arguments) for found in parsed)
        padded = [[*found.arguments, *[""] * (most - len(found.arguments))] for found in parsed]
        differ = [at for at in range(most) if len({row[at] for row in padded}) > 1]
        differ = [at for at in differ if not any(map(_is_dull, {row[at] for row in padded}))] or differ
        labels = []
        for found, row in zip(parsed, padded, strict=True):
            shown = ", ".join(_argument(row[at], form) for at in differ if row[at])
            labels.append(f"{found.base}<{shown}>" if shown else found.base)
        return labels

    return stage


def _scoped(group: Sequence[str], parsed: Sequence[Parsed]) -> list[str]:
    """The whole of it with the namespace, without parameters."""
    labels = []
    for found in parsed:
        shown = ", ".join(_argument(argument, "all") for argument in found.arguments)
        scope = f"{found.scope}::" if found.scope else ""
        labels.append(f"{scope}{found.base}{f'<{shown}>' if shown else ''}{found.behind}")
    return labels


def _full(group: Sequence[str], parsed: Sequence[Parsed]) -> list[str]:
    return [_legible(name) for name in group]


_STAGES = (_base, *map(_with_arguments, ("held", "framed", "all")), _scoped, _full)
"""Each for the names that the one before could not tell apart."""
