"""How sure a finding is, in words: its confidence, and what the critical path says of it."""

from __future__ import annotations

import re

from traceview.analysis.model import Finding

LOW = "low"
ON, OFF, NOT_KNOWN = "on the critical path", "not on the critical path", "not known"


def level(finding: Finding) -> str:
    """The first word of its confidence: high, medium or low."""
    return re.split(r"\W", finding.confidence, maxsplit=1)[0]


_TIME = re.compile(r"(?<![\w.,])(\d[\d,]*\.\d+) ms\b")
_WHOLE = re.compile(r"(?<![\w.,])(\d[\d,]*)\.0(?= [a-z])")
_NOUNS = (
    *("block", "call", "chain", "collective", "conversion", "copie", "gap", "iteration", "kernel", "module", "pause"),
    *("piece", "product", "reorder", "request", "step", "thread", "time", "token", "wait"),
)
_ONE = re.compile(rf"(?<![\w.,])1 ({'|'.join(_NOUNS)})s\b(?:((?: [^\s.,;:]+){{0,12}}?) (move|take|leave)\b)?")


def said(finding: Finding, text: str) -> str:
    """A text of a finding whose numbers are as exact as it is sure."""
    return rounded(text, 3 if level(finding) == "high" else 2)


def rounded(text: str, digits: int) -> str:
    """The text with its times rounded to `digits`, in the unit that fits then, counts of .0 as whole numbers, and the
    singular behind 1.
    """
    whole = _WHOLE.sub(r"\1", _TIME.sub(lambda found: _time(float(found[1].replace(",", "")), digits), text))
    return _ONE.sub(_single, whole)


def _single(found: re.Match[str]) -> str:
    noun, between, verb = found.groups()
    return f"1 {noun.replace('copie', 'copy')}" + ("" if verb is None else f"{between} {verb}s")


def _time(ms: float, digits: int) -> str:
    value = float(f"{ms:.{digits - 1}e}")
    unit, size = ("s", 1e3) if value >= 1e3 else ("ms", 1.0) if value >= 1 or not value else ("us", 1e-3)
    return f"{float(f'{value / size:.{digits}g}'):,g} {unit}"


def path_sentence(finding: Finding) -> str:
    """Explain a finding's place on the critical path, as a sentence; nothing where that was not worked out."""
    counted = f"{(finding.work_ns or 0) / 1e6:,.3f} ms"
    if finding.path == ON:
        saving = f"{(finding.path_saving_ns or 0) / 1e6:,.3f} ms"
        part = "all that the rule counts" if saving == counted else f"{saving} of the {counted} that the rule counts"
        return f"On the critical path: {part}."
    if finding.path == OFF:
        slack = (finding.path_slack_ns or 0) / 1e6
        return f"Not on the critical path: the rule counts {counted}, but " + (
            f"there are {slack:,.3f} ms of slack before it costs anything."
            if slack
            else "what runs beside it takes as long."
        )
    return "Critical path: not known." if finding.path else ""
