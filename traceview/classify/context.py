"""Rules of `context.toml`: they add the launching operator and the other kernels of the call to a kernel's name.

Invariant: the unit is the call, not the kernel; a kernel that no rule takes keeps the verdict of its name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

from traceview.classify.parts import WAYS
from traceview.classify.rules import FOLDER, Verdict, strings, text_or_none
from traceview.paths import read_toml

FILE = "context.toml"
_BACKWARD = re.compile(r"(?i)(?<!double_)backward")
"""Operators that compute gradients alone: a forward kernel there gives that of a transposed convolution's input."""


@dataclass(frozen=True)
class ContextRule:
    """One `[[rule]]` of context.toml: conditions on operator, kernel and call, and what follows."""

    number: int
    op: str | None
    op_category: tuple[str, ...]
    own: tuple[str, ...]
    own_token: tuple[str, ...]
    name: str | None
    beside: str | None
    sibling: tuple[str, ...]
    without: tuple[str, ...]
    result: dict[str, str]
    why: str
    examples: tuple[dict[str, Any], ...]

    @cached_property
    def op_regex(self) -> re.Pattern[str] | None:
        """The pattern on the operator as recorded."""
        return re.compile(self.op) if self.op else None

    @cached_property
    def name_regex(self) -> re.Pattern[str] | None:
        """The pattern on the kernel's name."""
        return re.compile(self.name) if self.name else None

    @cached_property
    def beside_regex(self) -> re.Pattern[str] | None:
        """The pattern on the names of the call's kernels."""
        return re.compile(self.beside) if self.beside else None


@dataclass(frozen=True)
class Situation:
    """A kernel in its call: its name, what name and operator alone say, and the tokens of the whole call."""

    name: str
    own: Verdict
    own_tokens: frozenset[str]
    op: str
    op_verdict: Verdict | None
    call: frozenset[str]
    names: tuple[str, ...]
    """The call's kernels, where they are known."""


@cache
def context_rules() -> tuple[ContextRule, ...]:
    """The rules of context.toml, read once per process."""
    data = read_toml(FOLDER / FILE)
    return tuple(
        ContextRule(
            number=number,
            op=text_or_none(table, "op"),
            op_category=tuple(table.get("op_category", ())),
            own=tuple(table.get("own", ())),
            own_token=tuple(table.get("own_token", ())),
            name=text_or_none(table, "name"),
            beside=text_or_none(table, "beside"),
            sibling=strings(table.get("sibling", ())),
            without=strings(table.get("without", ())),
            result={key: table[key] for key in ("category", "algorithm", "direction", "role") if key in table},
            why=table["why"],
            examples=tuple(table["examples"]),
        )
        for number, table in enumerate(data["rule"], start=1)
    )


def holds(rule: ContextRule, at: Situation) -> bool:
    """Whether every condition of the rule is met."""
    if rule.op_category and (at.op_verdict is None or at.op_verdict.category not in rule.op_category):
        return False
    if rule.own and at.own.category not in rule.own:
        return False
    if rule.own_token and at.own_tokens.isdisjoint(rule.own_token):
        return False
    if rule.sibling and at.call.isdisjoint(rule.sibling):
        return False
    if not at.call.isdisjoint(rule.without):
        return False
    if rule.op_regex and not rule.op_regex.search(at.op):
        return False
    if rule.name_regex and not rule.name_regex.search(at.name):
        return False
    return not rule.beside_regex or any(rule.beside_regex.search(name) for name in at.names)


def decide(at: Situation) -> Verdict:
    """The verdict of the first context rule that holds, else the verdict of the name alone."""
    for rule in context_rules():
        if holds(rule, at):
            return apply(rule, at)
    return at.own


def apply(rule: ContextRule, at: Situation) -> Verdict:
    """The name's verdict, changed by a context rule."""
    category = rule.result.get("category", at.own.category)
    op = at.op_verdict
    if category == "op" and op is not None:
        category = op.category
    algorithm = rule.result.get("algorithm", at.own.algorithm) or None
    role = rule.result.get("role", at.own.role) or None
    direction = rule.result.get("direction") or at.own.direction
    if op is not None and op.category == "conv":
        direction = op.direction or direction or call_direction(at.call, at.own_tokens)
        if direction == "fprop" and op.direction is None and _BACKWARD.search(at.op):
            direction = "dgrad"
    elif category != "conv":
        direction = None
    detail = f"/{algorithm}" if algorithm else ""
    return replace(
        at.own,
        category=category,
        algorithm=algorithm if category == "conv" else None,
        direction=direction,
        role=role,
        rule=f"{FILE}#{rule.number}: {category}{detail} (by name: {at.own.rule})",
        why=rule.why,
        context=None,
    )


def call_direction(call: frozenset[str], own: frozenset[str]) -> str | None:
    """The pass of a kernel of a backward call, from the tokens: Winograd's forward form computes the data gradient."""
    if "data" in own:
        return "dgrad"
    named = {"dgrad" if token == "data" else token for token in call & WAYS}
    return named.pop() if len(named) == 1 else None
