"""Which frameworks and models a study of frameworks compares: `frameworks.toml`, and the table of environments.

It imports nothing that is slow to load, as the command line's help reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traceview.paths import content, read_toml

MODES = ("forward", "gradient", "train")


@dataclass(frozen=True)
class Model:
    """A model that is compared, as its programs compute it where nothing else is asked."""

    name: str
    parameters: int
    batch: int
    steps: int
    discard: int
    optimizer: str
    images: bool


@dataclass(frozen=True)
class Framework:
    """A framework, and where it can be run."""

    name: str
    title: str
    module: str
    environment: str
    year: int
    program: str
    arguments: tuple[str, ...] = ()
    modes: tuple[str, ...] = MODES

    def script(self, model: str) -> Path:
        """The program that computes a model."""
        return content("samples") / "training" / f"{model}_{self.program}.py"


def published() -> list[dict[str, Any]]:
    """Published times, by publication."""
    found: list[dict[str, Any]] = read_toml(Path(__file__).parent / "published_frameworks.toml")["source"]
    return found


def _data() -> dict[str, Any]:
    return read_toml(Path(__file__).parent / "frameworks.toml")


def environments() -> dict[str, Any]:
    """The table of environments, which `make frameworks` and `make legacy` build from."""
    return read_toml(content("samples") / "environments.toml")


def models() -> dict[str, Model]:
    """By name."""
    found = _data()["models"]
    return {name: Model(name, **about) for name, about in found.items()}


def frameworks() -> dict[str, Framework]:
    """By name, in the order in which they are run."""
    found = {}
    for name, about in _data()["frameworks"].items():
        lists = {key: tuple(about[key]) for key in ("arguments", "modes") if key in about}
        found[name] = Framework(name, **{"program": name, **about, **lists})
    return found


def gone() -> dict[str, str]:
    """Return the frameworks that cannot be had, with the reason."""
    return {name: about["reason"] for name, about in _data()["gone"].items()}
