"""What charts are drawn with: an SVG in the making, its legend, and numbers with their units.

Invariant: an SVG is text and numbers made safe here; nothing of a trace is markup.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from markupsafe import Markup, escape

from traceview.render.characters import clean
from traceview.render.units import Style

Row = Mapping[str, Any]
WIDTH = 840
"""Of every chart: so that its letters are as large as others on a screen, and can be read on paper."""
LETTER = 6.6
"""Width of a letter of the charts' font size, about."""
MOST_START = 12
"""What has room for fewer letters is shortened at its end alone."""


@dataclass
class Drawing:
    """An SVG in the making."""

    height: float = 0.0
    parts: list[Markup] = field(default_factory=list)

    def add(self, name: str, content: str = "", title: str = "", **attributes: object) -> None:
        """An element; attribute names have - for _."""
        written = Markup("").join(
            Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), attribute(value))
            for key, value in attributes.items()
        )
        hint = Markup("<title>{}</title>").format(clean(title)) if title else Markup("")
        inner = hint + clean(content)
        form = Markup("<{0}{1}>{2}</{0}>") if inner else Markup("<{0}{1}/>")
        self.parts.append(form.format(Markup(name), written, inner))

    def text(self, x: float, y: float, content: str, room: float = 0.0, **attributes: object) -> None:
        """Text, shortened to its room; nothing where there is none."""
        if not content:
            return
        shown = content if not room or len(content) * LETTER <= room else shortened(content, int(room / LETTER))
        self.add("text", shown, content if shown != content else "", x=x, y=y, **attributes)

    def svg(self, label: str) -> Markup:
        """The whole, with a name for those who do not see it."""
        head = Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">')
        return head.format(WIDTH, attribute(self.height), clean(label)) + Markup("").join(self.parts) + Markup("</svg>")


def shortened(content: str, letters: int) -> str:
    """Its two ends: names that share their beginning differ in their end, and the other way round."""
    shown = max(1, letters - 1)
    end = shown // 2 if shown >= MOST_START else 0
    return content[: shown - end] + "…" + content[len(content) - end :]


def legend(drawing: Drawing, signs: Mapping[str, tuple[str, str]]) -> None:
    """Below what is drawn: each name with its colour and pattern."""
    x = 0.0
    drawing.height += 18
    for name, (fill, pattern) in signs.items():
        width = 22 + len(name) * LETTER + 14
        if x + width > WIDTH:
            x, drawing.height = 0.0, drawing.height + 18
        y = drawing.height - 14
        drawing.add("rect", x=x, y=y, width=12, height=12, fill=fill)
        if pattern:
            drawing.add("rect", x=x, y=y, width=12, height=12, fill=f"url(#{pattern})")
        drawing.text(x + 17, y + 10, name)
        x += width


def in_unit(unit: Style, value: Any) -> str:
    """A value with its unit."""
    return f"{unit.text(value)} {symbol(unit)}".rstrip()


def symbol(unit: Style) -> str:
    """The unit of a column, if it has one."""
    return unit.scale.symbol if unit.scale else ""


def is_positive(value: Any) -> bool:
    """Whether a value has a logarithm."""
    return value is not None and isfinite(value) and value > 0


def attribute(value: object) -> object:
    """An attribute of an element: short, and safe."""
    if not isinstance(value, float):
        return escape(value)
    return f"{value:.1f}".removesuffix(".0") if abs(value) >= 1 else f"{value:.2f}".rstrip("0").rstrip(".")
