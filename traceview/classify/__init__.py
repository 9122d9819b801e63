"""Names -> meaning: GPU kernels, CPU library primitives and framework operators.

The one law: every opinion is a rule in a `.toml` file beside this module; the first rule that matches wins.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache

from traceview.classify.rules import RuleSet, Verdict

__all__ = ["Verdict", "classify_kernel", "classify_kernels", "rules"]


@cache
def rules(file: str) -> RuleSet:
    """The rules of `kernels.toml`, `primitives.toml` or `ops.toml`, read once per process."""
    return RuleSet(file)


@lru_cache(maxsize=1 << 17)
def classify_kernel(name: str) -> Verdict:
    """What a GPU kernel, copy or fill does, from its name alone, in any spelling a profiler gives it."""
    return rules("kernels.toml").verdict(name)


def classify_kernels(names: Iterable[str]) -> list[Verdict]:
    """One verdict per name, in order."""
    return [classify_kernel(name) for name in names]
