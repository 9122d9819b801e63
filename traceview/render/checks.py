"""Checks of a comparison for CI: JUnit XML, a summary in Markdown for a change request, annotations of GitHub.

Invariant: names of a trace are text in each of them; none ends an attribute, a line or a command.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from traceview.analysis.model import Check
from traceview.render.characters import clean
from traceview.render.markdown import cell, escape

OUTCOMES = ("failed", "cannot tell", "passed")


def junit(checks: Sequence[Check], answer: str, is_strict: bool) -> str:
    """Write a JUnit report: one case per check; what cannot be told is skipped, or fails where that is asked for."""
    bad = [check for check in checks if fails(check, is_strict)]
    skipped = [check for check in checks if check.outcome == "cannot tell" and check not in bad]
    suite = ElementTree.Element(
        "testsuite",
        {
            "name": "traceview compare",
            "tests": f"{len(checks)}",
            "failures": f"{len(bad)}",
            "skipped": f"{len(skipped)}",
        },
    )
    for check in checks:
        name = _title(check)
        case = ElementTree.SubElement(suite, "testcase", {"classname": f"traceview.{clean(check.name)}", "name": name})
        if check.outcome != "passed":
            kind = "failure" if fails(check, is_strict) else "skipped"
            ElementTree.SubElement(case, kind, {"message": sentence(check)})
    ElementTree.SubElement(suite, "system-out").text = clean(answer)
    ElementTree.indent(suite)
    text: str = ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)
    return text + "\n"


def summary(checks: Sequence[Check], answer: str, is_strict: bool) -> str:
    """Write Markdown: the answer, then a row per check, what failed first; passes of parts are counted."""
    order = sorted(checks, key=lambda check: OUTCOMES.index(check.outcome))
    shown = [check for check in order if check.outcome != "passed" or not check.part]
    rows = [
        (check.outcome, cell(_title(check)), _ratio(check), f"{check.limit_pct:g} %", escape(check.reason))
        for check in shown
    ]
    n_failed = sum(fails(check, is_strict) for check in checks)
    head = f"### traceview: {n_failed or 'no'} failed check{'' if n_failed == 1 else 's'} of {len(checks)}"
    table = [
        "| outcome | what | time beside A (interval) | limit | why |",
        "| --- | --- | ---: | ---: | --- |",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
    left_out = len(checks) - len(shown)
    note = [f"{left_out} part{'' if left_out == 1 else 's'} within the limit left out."] if left_out else []
    return "\n\n".join([head, escape(answer), "\n".join(table), *note]) + "\n"


def workflow_commands(checks: Sequence[Check], is_strict: bool) -> list[str]:
    """Return GitHub's workflow commands: an error for what fails, a warning for what cannot be told."""
    return [
        f"::{'error' if fails(check, is_strict) else 'warning'} title={_property(f'traceview: {_title(check)}')}"
        f"::{_data(sentence(check))}"
        for check in checks
        if check.outcome != "passed"
    ]


def sentence(check: Check) -> str:
    """Say what is known of a check that did not pass."""
    if check.ratio is None:
        return clean(f"{_title(check)} cannot be checked: {check.reason}")
    longer = f"takes {100 * (check.ratio - 1):.1f} % longer"
    if check.kind == "layer":  # The run may call it otherwise.
        return clean(f"layer {check.part} of A {longer} in {check.run} ({check.reason})")
    what = f"a step of {check.run}" if check.kind == "step" else f"{check.kind} {check.part} of {check.run}"
    return clean(f"{what} {longer} than {'one of A' if check.kind == 'step' else 'in A'} ({check.reason})")


def _title(check: Check) -> str:
    return clean(f"{check.run} {check.kind} {check.part}".strip())


def fails(check: Check, is_strict: bool) -> bool:
    """Return whether the check ends with exit code 1."""
    return check.outcome == "failed" or (is_strict and check.outcome == "cannot tell")


def _ratio(check: Check) -> str:
    if check.ratio is None:
        return "-"
    interval = "" if check.low is None or check.high is None else f" ({_change(check.low)} to {_change(check.high)})"
    return f"{_change(check.ratio)}{interval}"


def _change(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.1f} %"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
