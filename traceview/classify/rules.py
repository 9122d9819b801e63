"""Applies an ordered file of naming rules (`*.toml` beside this module) to names: the first rule that matches wins.

What we think about a name lives in the data file; this module only reads and applies it.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

from traceview.classify.hints import LEAST, WORD, fold, hints, split
from traceview.classify.names import head, readable
from traceview.paths import read_toml

FOLDER = Path(__file__).resolve().parent
# Characters of a name that are looked at: the longest real names have 3,000, and patterns backtrack on hostile ones.
LIMIT = 4096
# Functions' own names that are remembered: instantiations of one function share it.
FUNCTIONS = 1 << 14
# Words of names for which it is remembered which patterns they can mean: names share most of their words.
WORDS = 1 << 17


@dataclass(frozen=True)
class Verdict:
    """Meaning of a name: the vocabulary is that of `docs/vocabulary.md`; None is "the name does not say".

    `rule` names the rule that won as `file#number: label`, `why` is its reason, `context` what would change the answer.
    """

    category: str
    algorithm: str | None
    direction: str | None
    role: str | None
    library: str | None
    rule: str
    why: str
    context: str | None


@dataclass(frozen=True)
class Rule:
    """One `[[rule]]`: patterns (any of them, searched, case-sensitive unless they say `(?i)`) and what they mean."""

    number: int
    file: str
    patterns: tuple[str, ...]
    category: str
    algorithm: str | None
    direction: str | None
    role: str | None
    library: str | None
    tokens: tuple[str, ...]
    why: str
    context: str | None
    examples: tuple[str, ...]

    @property
    def label(self) -> str:
        """How the rule is cited, for example `kernels.toml#12: conv/winograd`."""
        detail = f"/{self.algorithm}" if self.algorithm else ""
        return f"{self.file}#{self.number}: {self.category}{detail}"


Found = tuple[Rule, str | None]
"""A rule, and the direction that it read in the name."""


def text_or_none(table: dict[str, Any], key: str) -> str | None:
    """The text under `key`, None when absent."""
    value = table.get(key)
    return None if value is None else str(value)


def strings(value: str | Iterable[str]) -> tuple[str, ...]:
    """One text or a list of them, as a tuple."""
    return (value,) if isinstance(value, str) else tuple(value)


@cache
def library_patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return the patterns of `libraries.toml`, read once per process."""
    data = read_toml(FOLDER / "libraries.toml")
    return tuple((re.compile(entry["pattern"], re.IGNORECASE), entry["name"]) for entry in data["library"])


def library_of(name: str) -> str | None:
    """The library that a kernel's name gives away, None when it does not."""
    return next((library for pattern, library in library_patterns() if pattern.search(name[:LIMIT])), None)


class Branch:
    """One top-level alternative of one pattern; compiled on first use, because most never meet a candidate."""

    def __init__(self, rule: Rule, text: str) -> None:
        self.rule = rule
        self.text = text
        self.folded = text.startswith("(?i)")

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """Case-insensitive patterns are folded to lower case and searched in the lower-cased name: much faster."""
        text = fold(self.text.removeprefix("(?i)")) if self.folded else self.text
        count = itertools.count()
        return re.compile(re.sub(r"\(\?P<direction>", lambda _: f"(?P<direction{next(count)}>", text))


class RuleSet:
    """The rules of one file in order, with a literal pre-filter so that a name meets few regular expressions."""

    def __init__(self, file: str) -> None:
        data = read_toml(FOLDER / file)
        notes: dict[str, str] = data.get("contexts", {})
        self.words = {word: way for way, words in data.get("directions", {}).items() for word in words}
        self.rules = tuple(
            Rule(
                number=number,
                file=file,
                patterns=strings(table["pattern"]),
                category=table["category"],
                algorithm=text_or_none(table, "algorithm"),
                direction=text_or_none(table, "direction"),
                role=text_or_none(table, "role"),
                library=text_or_none(table, "library"),
                tokens=tuple(table.get("tokens", ())),
                why=table["why"],
                context=notes.get(table.get("context", ""), table.get("context")),
                examples=tuple(table["examples"]),
            )
            for number, table in enumerate(data["rule"], start=1)
        )
        self.launchers = strings(data.get("launchers", ()))
        self.launching: dict[str, bool] = {}
        self.told: dict[str, Found | None] = {}
        self.verdicts: dict[tuple[int, str | None], Verdict] = {}
        self.branches = [
            Branch(rule, text) for rule in self.rules for pattern in rule.patterns for text in split(pattern)
        ]
        hinted: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        for number, branch in enumerate(self.branches):
            for hint in hints(branch.text):
                hinted[hint[:LEAST]].append((hint, number))
        self.hinting = lru_cache(WORDS)(
            lambda word: {
                number
                for at in range(max(1, len(word) - LEAST + 1))
                for hint, number in hinted.get(word[at : at + LEAST], ())
                if word.startswith(hint, at)
            }
        )

    def find(self, name: str) -> Found:
        """The first rule that matches `name`, and the direction it read there. The last rule matches every name.

        Where the file names `launchers`, the function's own name is asked first: a word inside a template argument
        decides nothing where that says enough. A launcher's arguments say what it runs.
        """
        name = name[:LIMIT]
        if not self.launchers or not ("<" in name or "(" in name or name.startswith(("_Z", "aclnn"))):
            return self.match(name)
        known = None if self.is_launcher(name.partition("<")[0]) else self.of_function(head(name))
        return known or self.match(readable(name))

    def of_function(self, own: str) -> Found | None:
        """Return the rule for a function's own name; None where there is none, or it leaves it to its arguments."""
        if len(self.told) >= FUNCTIONS:
            self.told.clear()
        if own not in self.told:
            found = None if self.is_launcher(own) else self.match(own)
            self.told[own] = found if found and found[0] is not self.rules[-1] else None
        return self.told[own]

    def is_launcher(self, own: str) -> bool:
        """Whether a function's arguments say what it does."""
        if len(self.launching) >= FUNCTIONS:
            self.launching.clear()
        if own not in self.launching:
            self.launching[own] = any(word in own for word in self.launchers)
        return self.launching[own]

    def match(self, name: str) -> Found:
        """The first rule of which a pattern is found in this text."""
        low = name.lower()
        for number in sorted(self.hinting("").union(*map(self.hinting, WORD.findall(low)))):
            branch = self.branches[number]
            match = branch.regex.search(low if branch.folded else name)
            if match:
                word = match[match.lastgroup] if match.lastgroup else None
                return branch.rule, self.words.get(word.lower()) if word else branch.rule.direction
        raise LookupError(f"no rule of {self.rules[0].file} matches {name!r}")

    def verdict(self, name: str) -> Verdict:
        """Return the verdict of the first rule that matches `name`."""
        rule, direction = self.find(name)
        key = (rule.number, direction)
        if key not in self.verdicts:
            self.verdicts[key] = Verdict(
                rule.category, rule.algorithm, direction, rule.role, rule.library, rule.label, rule.why, rule.context
            )
        return self.verdicts[key]
