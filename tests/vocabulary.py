"""The words that `docs/vocabulary.md` explains: what rules may say."""

from __future__ import annotations

import re
from pathlib import Path

_PAGE = (Path(__file__).resolve().parent.parent / "docs/vocabulary.md").read_text(encoding="utf-8")


def words(heading: str) -> frozenset[str]:
    """The first column of the table under a heading."""
    section = re.split(r"(?m)^## ", _PAGE.partition(f"\n## {heading}\n")[2])[0]
    rows = re.findall(r"(?m)^\| ([a-z_, ]+) \|", section)
    return frozenset(word for row in rows[1:] for word in row.split(", "))


CATEGORIES = words("category")
ALGORITHMS = words("algorithm")
