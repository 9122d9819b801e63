"""How often the bounds of advice were reached where `tune` measured what they promise, on this user's machine.

Invariant: it is this user's own cache, and small: the last `MOST` of each rule count.
"""

from __future__ import annotations

import contextlib
import json
import math
import statistics
from pathlib import Path

from traceview.paths import own_folder, user_cache

MOST = 50
LONGEST_BYTES = 1_000_000
WITHIN = 1.5


def remember(rule: str, bound: float, measured: float) -> None:
    """Note what a rule allowed at most, and what came of it, both as speed-ups."""
    with contextlib.suppress(OSError):
        file = _file()
        lines = _lines(file)[-20 * MOST :]
        lines.append(json.dumps([rule, bound, measured]))
        draft = file.with_suffix(".new")
        draft.write_text("\n".join(lines) + "\n", encoding="utf-8")
        draft.replace(file)


def told(rule: str) -> str | None:
    """How often the bound of a rule was reached, as a sentence; None where nothing was measured here."""
    shares = []
    with contextlib.suppress(OSError):
        for line in _lines(_file()):
            with contextlib.suppress(ValueError, TypeError):
                name, bound, measured = json.loads(line)
                if name == rule and bound > 1 and measured > 0 and math.isfinite(bound + measured):
                    shares.append((1 - 1 / measured) / (1 - 1 / bound))
    if not shares:
        return None
    shares = shares[-MOST:]
    reached = sum(share >= 1 / WITHIN for share in shares)
    runs = "1 trial of tune" if len(shares) == 1 else f"{len(shares)} trials of tune"
    return (
        f"Measured here: {runs} gave {100 * max(0.0, statistics.median(shares)):.0f} % of this saving"
        f"{' (median)' if len(shares) > 1 else ''}; {reached} of {len(shares)} at least two thirds of it."
    )


def _file() -> Path:
    return own_folder(user_cache() / "tuned") / "rules.jsonl"


def _lines(file: Path) -> list[str]:
    if not file.exists() or file.stat().st_size > LONGEST_BYTES:
        return []
    return file.read_text(encoding="utf-8", errors="replace").splitlines()
