"""Every format is a module that says its extension and whether it is for people."""

from __future__ import annotations

import pytest

from traceview import render
from traceview.analysis.model import Report


def test_every_format_has_a_renderer(report: Report) -> None:
    for name in render.FORMATS:
        text = render.renderer(name).render(report)
        assert text.endswith("\n") and "ampere_sgemm_32x32_sliced1x4_tn" in text


@pytest.mark.parametrize("name", render.FORMATS)
def test_no_format_lets_a_control_character_through(name: str, report: Report) -> None:
    text = render.renderer(name).render(report)
    assert not [char for char in text if char != "\n" and (ord(char) < 32 or 127 <= ord(char) < 160)]
    assert not set(text) & set("\u200b\u2028\u202e\u2066\u2069")


def test_what_several_reports_rest_on_is_said_once_to_people(report: Report) -> None:
    for name in render.FORMATS:
        renderer = render.renderer(name)
        assert renderer.render_all([report]) == renderer.render(report)
        said = renderer.render_all([report, report]).count(report.footer[0])
        assert said == (1 if renderer.FOR_PEOPLE else 2 if name == "json" else 0)
