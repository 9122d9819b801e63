"""Blanks secrets in a trace or a command line before they are stored.

Invariant: there is one rule, `collectors/inject/traceview_inject/secrets.py`, which also runs without traceview.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any, cast

from traceview.paths import content

RULE = content("collectors") / "inject" / "traceview_inject/secrets.py"


@cache
def _rule() -> ModuleType:
    spec = spec_from_file_location(RULE.stem, RULE)
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def text(whole: str) -> str:
    """A text with what looks like a secret blanked."""
    return cast(str, _rule().text(whole))


def command(words: Sequence[str]) -> list[str]:
    """The words of a command line, blanked."""
    return cast(list[str], _rule().command(words))


def document(value: Any) -> Any:
    """Blank secrets in JSON data: values by their keys, lists of words as command lines, texts as texts."""
    return _rule().document(value)


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables that a capture may keep."""
    return cast(dict[str, str], _rule().environment(variables))
