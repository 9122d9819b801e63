"""Which results this user made on this machine: they may be continued and applied, others only read.

Invariant: what would be run or set by a folder of results is what this user's traceview wrote there. The marks lie in
the user's own state folder, by the path of the results, as digests of the files that decide it; a folder that was
copied, sent or changed has no mark.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from traceview.errors import UsageError
from traceview.experiments import inside
from traceview.paths import own_folder, user_state
from traceview.store import integrity

ABOUT, PLAN, ANSWERS = "capture.json", "plan.json", "raw/rank-0000.answers.jsonl"
DECIDING = (ABOUT, PLAN, ANSWERS)
"""Command, variables and settings; the plan that is applied; the options that were best."""
DIGESTS = 2
"""Number of digests of a file: what is there, and what replaces it when the program may be ended at any moment."""


def note(folder: Path, name: str, content: bytes) -> None:
    """Mark what is about to be written as this user's. Where there is no state folder, nothing is marked."""
    with suppress(OSError):
        place = _place(folder)
        known = integrity.read_json(place)
        earlier = known.get(name)
        digests = [*(earlier if isinstance(earlier, list) else [])[1 - DIGESTS :], hashlib.sha256(content).hexdigest()]
        inside.replace(place.parent, place.name, json.dumps({**known, name: digests}).encode())


def is_mine(folder: Path) -> bool:
    """Return whether each file that decides what is run is as this user's traceview wrote it, here."""
    try:
        known = integrity.read_json(_place(folder))
    except OSError:
        return False
    return inside.exists(folder, ABOUT) and all(
        hashlib.sha256(inside.read(folder, name)).hexdigest() in (known.get(name) or ())
        for name in DECIDING
        if inside.exists(folder, name)
    )


def allow(
    folder: Path,
    trusts: bool,
    say: Callable[[str], None],
    command: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
    adopts: bool = True,
) -> None:
    """Raise `UsageError` for results of somebody else that the user has not said to trust; say what is run if so.

    `adopts`: mark them as the user's own, who saw what they run.
    """
    if is_mine(folder):
        return
    words = [*(f"{name}={shlex.quote(text)}" for name, text in (variables or {}).items()), shlex.join(command)]
    runs = f"runs: {' '.join(filter(None, words))}" if command else "believes what was measured there"
    if not trusts:
        raise UsageError(
            f"{folder} was not made by you on this machine, or was changed or moved since. With --trust this {runs}"
        )
    say(f"{folder} is trusted; this {runs}")
    if adopts:
        for name in DECIDING:
            if inside.exists(folder, name):
                note(folder, name, inside.read(folder, name))


def _place(folder: Path) -> Path:
    """The file with the marks of a folder, in a folder that only this user can write to."""
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:32]
    return own_folder(user_state() / "results") / f"{name}.json"
