"""The options that `tune` tries: rows of `options.toml` beside this module, which of them apply to a run, and the
environment that a process needs for them.

An option is set by variables of a fresh process, by a function in the process (a hook, which
`collectors/inject/traceview_inject/options.py` calls when the framework has been imported), or by both.

Invariant: an option that does not apply has a reason, and what an option does to a process stands in its row alone.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from traceview.errors import UsageError, unknown
from traceview.paths import read_toml

FILE = Path(__file__).with_suffix(".toml")
ANY = "any"
NUMBERS = ("equal", "close", "changed")
HOOKS, VARIABLES = "TRACEVIEW_TRY", "TRACEVIEW_TRY_VARIABLES"
"""Variables that tell a process which hooks to call, and which variables to look after."""
MOST_WORKERS = 8
"""Maximum number of a DataLoader's workers, on a machine with more cores; the hook takes as many."""
FOLDERS = ("/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib", "/opt/conda/lib")
"""Folders where libraries are looked for, after LD_LIBRARY_PATH and the environment that Python runs in."""


@dataclass(frozen=True)
class Option:
    """One option; the head of `options.toml` explains the keys."""

    name: str
    title: str
    group: str
    framework: str
    numbers: str
    cost: str
    unless: str
    rules: tuple[str, ...]
    lines: Mapping[str, str]
    seen: str
    versions: str = ""
    needs: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    unset: tuple[str, ...] = ()
    hook: str | None = None
    one_of: str | None = None
    read_by: str | None = None
    not_with: str | None = None
    config: dict[str, str] = field(default_factory=dict)
    only_when_asked: bool = False
    not_run: str | None = None
    bounds_add_up: tuple[str, ...] = ()


@dataclass(frozen=True)
class Facts:
    """Facts that decide whether an option applies to a run."""

    framework: str | None
    """As collectors name it: torch, tensorflow, jax, onnxruntime, mxnet, theano; None where none is known."""
    version: str
    device: str
    """cpu or cuda."""
    cores: int
    installed: Mapping[str, str] = field(default_factory=dict)
    """Things options need that the machine has, by name, and their places: see `installed`."""
    scratch: str = ""
    """A folder for what an option keeps between runs."""

    def values(self) -> dict[str, str]:
        """Return the values that may stand in braces in the row of an option."""
        numbers = {"cores": self.cores, "last_core": self.cores - 1, "workers": min(self.cores, MOST_WORKERS)}
        own = {name: str(number) for name, number in numbers.items()}
        return {**self.installed, **own, "cache": self.scratch or "traceview-cache"}


@cache
def load() -> tuple[Option, ...]:
    """Every option there is, in the order of the file."""
    return tuple(_option(row) for row in read_toml(FILE)["option"])


def _option(row: Mapping[str, Any]) -> Option:
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    values["lines"] = {name: text.strip("\n") for name, text in row["lines"].items()}
    return Option(**{**values, "hook": row["name"] if row.get("hook") else None})


def named(words: Iterable[str], among: Sequence[Option] | None = None) -> tuple[Option, ...]:
    """The options of these names or groups, each once. Raises `UsageError` for a word that is neither."""
    options = load() if among is None else among
    known = list(dict.fromkeys(word for option in load() for word in (option.name, option.group)))
    found: dict[str, Option] = {}
    for word in words:
        if word not in known:
            raise unknown("option", word, known, "`traceview list options` names them all.")
        found.update({option.name: option for option in options if word in (option.name, option.group)})
    return tuple(found.values())


def of_rules(rules: Iterable[str]) -> tuple[Option, ...]:
    """The options that these advice rules name, but those that are only tried when asked for."""
    named_by = set(rules)
    return tuple(option for option in load() if named_by & {*option.rules} and not option.only_when_asked)


def that_apply(
    facts: Facts, among: Sequence[Option] | None = None
) -> tuple[tuple[Option, ...], list[tuple[Option, str]]]:
    """The options that can be tried on such a run, and the others, each with the reason why not."""
    fitting, others = [], []
    for option in load() if among is None else among:
        reason = why_not(option, facts)
        if reason:
            others.append((option, reason))
        else:
            fitting.append(option)
    return tuple(fitting), others


def why_not(option: Option, facts: Facts) -> str | None:
    """Why an option cannot be tried on such a run; None where it can."""
    if option.framework not in (ANY, facts.framework):
        return f"it is for {option.framework}"
    if not fits(facts.version, option.versions):
        return f"it is for {option.framework} {option.versions}, and this is {facts.version}"
    needs = read_toml(FILE)["need"]
    return next((needs[name]["reason"] for name in option.needs if not _has(needs[name], name, facts)), None)


def _has(need: Mapping[str, Any], name: str, facts: Facts) -> bool:
    if "device" in need:
        return bool(need["device"] == facts.device)
    return facts.cores >= need["cores"] if "cores" in need else name in facts.installed


def fits(version: str, bounds: str) -> bool:
    """Whether a version is within bounds such as `>=2.4,<3`; one that is not known is."""
    have = _numbers(version)
    for bound in filter(None, bounds.split(",")):
        match = re.fullmatch(r"(>=|<)(\d+(?:\.\d+)*)", bound.strip())
        if match is None:
            raise ValueError(f"{bound!r} bounds no version")
        if have and (have >= _numbers(match[2])) != (match[1] == ">="):
            return False
    return True


def _numbers(version: str) -> tuple[int, ...]:
    match = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in match[0].split(".")) if match else ()


def installed() -> dict[str, str]:
    """Return the things options need that this machine has, by name, with the place of libraries and programs."""
    found = {name: _found(need) for name, need in read_toml(FILE)["need"].items()}
    return {name: place for name, place in found.items() if place is not None}


def _found(need: Mapping[str, Any]) -> str | None:
    if "system" in need:
        return need["system"] if platform.system() == need["system"] else None
    if "libc" in need:
        library, version = platform.libc_ver()
        return version if library == need["libc"] and fits(version, f">={need.get('libc_from', '0')}") else None
    if "file" in need:
        with suppress(OSError):
            text = Path(need["file"]).read_text(encoding="utf-8", errors="replace")
            return need["file"] if re.search(need["says"], text) else None
    if "program" in need:
        return next(filter(None, map(shutil.which, need["program"])), None)
    return next(filter(None, map(_library, need.get("library", ()))), None)


def _library(name: str) -> str | None:
    """The path of a shared library of this name."""
    folders = [Path(entry) for entry in os.environ.get("LD_LIBRARY_PATH", "").split(":") if entry]
    folders += [Path(prefix, "lib") for prefix in (os.environ.get("CONDA_PREFIX"), sys.prefix) if prefix]
    folders += [place for pattern in FOLDERS for place in sorted(Path("/").glob(pattern[1:]))]
    return next((str(folder / name) for folder in folders if (folder / name).exists()), None)


def conflict(options: Sequence[Option]) -> str | None:
    """Why these options cannot be combined; None where they can."""
    for at, option in enumerate(options):
        for other in options[:at]:
            if option.one_of and option.one_of == other.one_of:
                return f"{other.name} and {option.name} are two answers to one question"
            clash = {
                name
                for name, value in option.environment.items()
                if other.environment.get(name, value) != value and name not in read_toml(FILE)["joined"]
            }
            clash |= {*option.unset} & {*other.environment} | {*other.unset} & {*option.environment}
            if clash:
                return f"{other.name} and {option.name} set {min(clash)} differently"
    return None


def environment(options: Sequence[Option], facts: Facts, base: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process in which these options are tried: `base` with what they change.

    Raises `UsageError` for options that contradict each other.
    """
    reason = conflict(options)
    if reason:
        raise UsageError(f"these options cannot be tried together: {reason}.")
    joined, changed, watched = read_toml(FILE)["joined"], dict(base), {}
    for option in options:
        own: dict[str, str | None] = dict.fromkeys(option.unset)
        for name, text in option.environment.items():
            own[name] = text.format_map(facts.values())
            held = changed.get(name) if name in joined else None
            changed[name] = f"{held}{joined[name]}{own[name]}" if held else str(own[name])
        for name in option.unset:
            changed.pop(name, None)
        if own and not option.hook:
            config = {path: text.format_map(facts.values()) for path, text in option.config.items()}
            seen_by = {"read_by": option.read_by, "not_with": option.not_with, "config": config}
            watched[option.name] = {"set": own, **seen_by}
    hooks = [option.hook for option in options if option.hook]
    told = {HOOKS: ",".join(hooks), VARIABLES: json.dumps(watched) if watched else ""}
    for name, text in told.items():
        changed.pop(name, None)
        if text:
            changed[name] = text
    return changed


def lines(option: Option, facts: Facts) -> str:
    """Return the lines to write to keep an option, for this framework."""
    text = option.lines.get(facts.framework or ANY) or next(iter(option.lines.values()))
    values = facts.values()
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), text)
