"""How sure a finding is, in words: its confidence, and what the critical path says of it."""

from __future__ import annotations

import re

from traceview.analysis.model import Finding

LOW = "low"
ON, OFF, NOT_KNOWN = "on the critical path", "not on the critical path", "not known"


def level(finding: Finding) -> str:
    """The first word of its confidence: high, medium or low."""
    return re.split(r"\W", finding.confidence, maxsplit=1)[0]


def path_sentence(finding: Finding) -> str:
    """Explain a finding's place on the critical path, as a sentence; nothing where that was not worked out."""
    counted = f"{(finding.work_ns or 0) / 1e6:,.3f} ms"
    if finding.path == ON:
        saving = f"{(finding.path_saving_ns or 0) / 1e6:,.3f} ms"
        return f"On the critical path: {saving} of the {counted} that the rule counts."
    if finding.path == OFF:
        slack = (finding.path_slack_ns or 0) / 1e6
        return f"Not on the critical path: the rule counts {counted}, but " + (
            f"there are {slack:,.3f} ms of slack before it costs anything."
            if slack
            else "what runs beside it takes as long."
        )
    return "Critical path: not known." if finding.path else ""
