"""A convolution call cut into its parts: one pass by one algorithm each, or one trial of a search.

Invariant: a kernel that prepares goes with the product after it, one that finishes with the product before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from traceview.classify.rules import Verdict

WAYS = frozenset({"fprop", "dgrad", "wgrad", "data"})
STAGED = frozenset({"fft", "fft2d", "fft_tiling", "winograd_nonfused"})
"""Tokens of transforms of which the product is a kernel of its own, or several."""
PREPARING = frozenset({"memset", "subsample", "dgrad_setup", "implicit_precomp_gemm", "im2col", "winograd", *STAGED})
FFT = ("fft", "fft_tiling")


def expand(tokens: Iterable[str]) -> frozenset[str]:
    """Tokens with their direction as a token of its own: `fft:wgrad` becomes `fft` and `wgrad`."""
    return frozenset(part for token in tokens for part in token.split(":"))


def parts_of_call(tokens: Sequence[frozenset[str]]) -> list[int]:
    """Which part of a call each kernel belongs to, from 0 on; `tokens`: of each kernel, in launch order."""
    numbers: list[int] = []
    number, part = 0, OpenPart()
    for own in tokens:
        if part.ends_before(own):
            number, part = number + 1, OpenPart()
        part.take(own)
        numbers.append(number)
    return numbers


class OpenPart:
    """Tokens of the part that is being collected."""

    def __init__(self) -> None:
        self.ways: frozenset[str] = frozenset()
        self.has_product = self.has_transform = self.is_restored = False
        self.layouts = 0
        """Layout changes before the product that none after it has undone."""

    def ends_before(self, own: frozenset[str]) -> bool:
        """Whether a kernel with these tokens begins another part."""
        ways = _ways(own)
        if ways and self.ways and ways != self.ways:
            return True
        if "main" in own:
            return self.has_product and (self.is_restored or not self.has_transform)
        return self.has_product and self._prepares(own)

    def take(self, own: frozenset[str]) -> None:
        """Add a kernel."""
        self.ways |= _ways(own)
        self.has_product |= "main" in own
        self.has_transform |= "main" not in own and not own.isdisjoint(STAGED)
        self.is_restored |= "transform_out" in own
        if "layout" in own:
            undone = 1 if "undoes_one" in own else self.layouts
            self.layouts = max(self.layouts - undone, 0) if self.has_product else self.layouts + 1

    def _prepares(self, own: frozenset[str]) -> bool:
        if "layout" in own:
            return "layout_back" not in own and self.layouts == 0
        return "transform_out" not in own and not own.isdisjoint(PREPARING)


def tokens_by_part(tokens: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """For each kernel of an ordered call, the tokens of its part of the call."""
    numbers = parts_of_call(tokens)
    union: dict[int, frozenset[str]] = {}
    for number, own in zip(numbers, tokens, strict=True):
        union[number] = union.get(number, frozenset({"known"})) | own
    return [union[number] for number in numbers]


def agreed(verdicts: Sequence[Verdict], tokens: Sequence[frozenset[str]], *, is_backward: bool) -> list[Verdict]:
    """The verdicts on a call's kernels, with what only the whole part tells: its one algorithm and its pass."""
    numbers = parts_of_call(tokens)
    groups = [
        [place for place, number in enumerate(numbers) if number == part]
        for part in range(max(numbers, default=-1) + 1)
    ]
    found = list(verdicts)
    ways = [_only(found[place].direction for place in group) for group in groups]
    if is_backward:
        if set(ways) == {"dgrad", None}:  # What makes columns of the image there is for the other gradient.
            is_unrolled = [any("im2col" in tokens[place] for place in group) for group in groups]
            ways = [way or ("wgrad" if unrolled else None) for way, unrolled in zip(ways, is_unrolled, strict=True)]
        has_product = [any(found[place].role == "main" for place in group) for group in groups]
        ways = _in_order(ways, has_product)
    for group, way in zip(groups, ways, strict=True):
        algorithm = _algorithm(
            [found[place] for place in group], frozenset().union(*(tokens[place] for place in group))
        )
        for place in group:
            own = found[place]
            shared = own.category == "conv" and (
                own.algorithm in (None, *FFT) if own.role == "helper" else own.algorithm in FFT
            )
            found[place] = replace(
                own, direction=own.direction or way, algorithm=algorithm if shared and algorithm else own.algorithm
            )
    return found


def _ways(own: frozenset[str]) -> frozenset[str]:
    return frozenset("dgrad" if token == "data" else token for token in own & WAYS)


def _only(values: Iterable[str | None]) -> str | None:
    told = {value for value in values if value}
    return told.pop() if len(told) == 1 else None


def _algorithm(verdicts: Sequence[Verdict], tokens: frozenset[str]) -> str | None:
    """The one algorithm of a part's products; of the two with FFTs the product tells which."""
    told = {verdict.algorithm for verdict in verdicts if verdict.category == "conv" and verdict.role == "main"} - {None}
    told |= {verdict.algorithm for verdict in verdicts if verdict.algorithm in FFT} if told <= set(FFT) else set()
    if told == set(FFT):
        return "fft" if tokens.isdisjoint({"gcgemm", "fft_tiling"}) or "flip_filter" in tokens else "fft_tiling"
    return _only(told)


def _in_order(ways: list[str | None], has_product: list[bool]) -> list[str | None]:
    """Passes of a backward call's parts: frameworks compute the data gradient first, then the filter gradient."""
    found = list(ways)
    products = [part for part, has in enumerate(has_product) if has]
    for place, part in enumerate(products):
        before, after = [ways[one] for one in products[:place]], [ways[one] for one in products[place + 1 :]]
        if found[part] is None and ("dgrad" in after or (len(products) == 2 and after == ["wgrad"])):
            found[part] = "dgrad"
        elif found[part] is None and ("wgrad" in before or (len(products) == 2 and before == ["dgrad"])):
            found[part] = "wgrad"
    return found
