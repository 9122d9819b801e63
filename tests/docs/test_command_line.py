"""docs/command-line.md has a row for every option that several verbs share: its value, and all of these verbs."""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from traceview import cli

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
ROW = re.compile(r"\| `(--[\w-]+)(?: ([^`]*))?` \| ([^|]+) \| [^|]+ \|")


def parsers(parser: argparse.ArgumentParser, verb: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield the name and parser of every verb, and of every study."""
    parts = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for part in parts:
        for name, inner in part.choices.items():
            yield from parsers(inner, f"{verb} {name}".strip())
    if not parts:
        yield verb, parser


def value(action: argparse.Action) -> str:
    """Return how the value of an option is written, as in its help."""
    if action.option_strings[-1] == "--format":
        return "FORMAT"
    return str(action.metavar or "|".join(action.choices or ()) or ("" if action.nargs == 0 else "?"))


def shared() -> dict[str, dict[str, set[str]]]:
    """Return the verbs of every option that two have, by its name and value."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for verb, parser in parsers(cli.build_parser()):
        for action in parser._actions:
            name = next((word for word in action.option_strings if word.startswith("--")), None)
            if name not in (None, "--help") and action.help != argparse.SUPPRESS:
                found[name][value(action)].add(verb)
    return {name: dict(forms) for name, forms in found.items() if sum(map(len, forms.values())) > 1}


def test_the_table_has_every_option_that_verbs_share() -> None:
    written: dict[str, dict[str, set[str]]] = defaultdict(dict)
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    for line in lines:
        row = ROW.fullmatch(line.replace("\\|", "/"))
        assert row, line
        written[row[1]][(row[2] or "").replace("/", "|")] = set(row[3].split(", "))
    assert list(written) == sorted(written)
    assert written == shared()


def test_values_of_one_kind_are_read_by_one_parser() -> None:
    """Options of one name and value have one parser, apart from limits of how much."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for _, parser in parsers(cli.build_parser()):
        for action in parser._actions:
            read = action.type
            if isinstance(read, type(value)):
                found[action.option_strings[-1], value(action)].add(read.__qualname__)
    assert {key: names for key, names in found.items() if len(names) > 1} == {}
