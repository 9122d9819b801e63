"""Colours: every word of the vocabulary that charts show has one, readable on light and dark."""

from __future__ import annotations

import pytest

from traceview.render.colours import OTHER, _known, colour


def _light(hexadecimal: str) -> float:
    parts = [int(hexadecimal[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("name", sorted({name for group in _known().values() for name in group}))
def test_a_colour_stands_out_on_light_and_dark(name: str) -> None:
    light = _light(colour(name))
    dark = _light("#15181c")
    assert 1.05 / (light + 0.05) >= 2.4 and (light + 0.05) / (dark + 0.05) >= 2.4


def test_algorithms_have_colours_of_their_own() -> None:
    algorithms = _known()["algorithm"]
    assert len(set(algorithms.values())) == len(algorithms)
    assert colour("(unknown)") == _known()["cause"]["unknown"] and colour("no such word") == OTHER
