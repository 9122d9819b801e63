"""Checks what a JSON file of an experiment says, field by field, before it is used.

Invariant: a value of another type than its field's is an error that names the field; nothing is converted.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import Any, get_args, get_origin

from traceview.errors import InputError

MOST = 10**9
"""Maximum of counts and seconds."""
LONGEST = 100
"""Maximum length of a value that an error shows."""
WORDS = {
    str: "text",
    bool: "true or false",
    int: "a whole number from 0 on",
    float: "a number above 0",
    NoneType: "null",
}


def checked(told: object, kinds: Mapping[str, Any], where: str, is_whole: bool = False) -> dict[str, Any]:
    """Return the fields of `told` that are among `kinds`, each of its type; lists become tuples.

    Raises `InputError` that names the field; with `is_whole` also for a field that is not among them.
    """
    if not isinstance(told, dict):
        raise InputError(f"{where} is {_shown(told)}, not an object with names.")
    strange = [name for name in told if name not in kinds]
    if is_whole and strange:
        raise InputError(f"{where}: there is no field {_shown(strange[0])}.")
    found = {}
    for name in kinds.keys() & told.keys():
        if not _fits(told[name], kinds[name]):
            raise InputError(f"{where}: {name} is {_shown(told[name])}, not {_words(kinds[name])}.")
        found[name] = _made(told[name], kinds[name])
    return found


def _fits(value: Any, kind: Any) -> bool:
    parts, origin = get_args(kind), get_origin(kind)
    if kind is Any:
        return True
    if origin is tuple:
        return isinstance(value, list) and all(_fits(each, parts[0]) for each in value)
    if origin is dict:
        return isinstance(value, dict) and all(_is_text(name) and _fits(each, parts[1]) for name, each in value.items())
    if parts:
        return any(_fits(value, part) for part in parts)
    if kind is str:
        return _is_text(value)
    if kind in (bool, NoneType):
        return isinstance(value, kind)
    if isinstance(value, bool) or not isinstance(value, int if kind is int else int | float):
        return False
    return bool(0 <= value <= MOST and (value or kind is int))


def _is_text(value: object) -> bool:
    """Whether this is text that a command line or a variable can hold."""
    if not isinstance(value, str) or "\0" in value:
        return False
    return not any("\ud800" <= char <= "\udfff" for char in value)


def _made(value: Any, kind: Any) -> Any:
    return tuple(value) if isinstance(value, list) and (get_origin(kind) is tuple or get_args(kind)) else value


def _words(kind: Any) -> str:
    parts, origin = get_args(kind), get_origin(kind)
    if origin is tuple:
        return f"a list, each of it {_words(parts[0])}"
    if origin is dict:
        return f"an object with names, each of it {_words(parts[1])}"
    return " or ".join(map(_words, parts)) if parts else WORDS.get(kind, "anything")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
