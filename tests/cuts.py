"""Places where the events of a trace end: the part before such a cut is whole."""

from __future__ import annotations

import json
import re


def json_ends(text: bytes, key: bytes = rb'"traceEvents"\s*:\s*\[') -> list[int]:
    """Return the offset where each event of the array ends."""
    start = re.search(key, text)
    whole = text.decode("latin-1")
    at = start.end() if start else text.index(b"[") + 1
    scanner, ends = json.JSONDecoder(), []
    while True:
        at += len(whole[at : at + 100]) - len(whole[at : at + 100].lstrip(" \t\r\n,"))
        if whole[at] == "]":
            return ends
        _, at = scanner.raw_decode(whole, at)
        ends.append(at)
