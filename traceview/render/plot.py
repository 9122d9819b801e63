"""Charts in notebooks and files: the chart of a section as the page draws it, with all that it needs inside.

Invariant: a chart is SVG without scripts, so that it shows without a network; colours are the page's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Template
from markupsafe import Markup

from traceview.analysis.model import Section
from traceview.errors import UsageError, writing
from traceview.render.characters import clean
from traceview.render.charts import PATTERNS, WIDTH, chart
from traceview.render.units import is_number

HEADING = 30
"""Room for the title above a chart."""


@dataclass(frozen=True)
class Plot:
    """A chart, which a notebook shows."""

    svg: str

    def _repr_html_(self) -> str:
        return f'<div style="max-width:{WIDTH}px">{self.svg}</div>'

    def save(self, path: str | Path) -> None:
        """Write the chart to a file that ends in .svg or .png.

        Raises `UsageError` for another name, and where the package for PNG is missing.
        """
        file = Path(path)
        if file.suffix == ".svg":
            with writing(str(file)):
                file.write_text(self.svg, encoding="utf-8")
        elif file.suffix == ".png":
            try:
                import resvg_py
            except ImportError as error:
                raise UsageError("PNG needs resvg-py: pip install 'traceview[plot]'; .svg needs nothing.") from error
            image = bytes(resvg_py.svg_to_bytes(svg_string=self.svg, zoom=2.0))
            if image == bytes(resvg_py.svg_to_bytes(svg_string=self.svg, zoom=2.0, skip_system_fonts=True)):
                raise UsageError(
                    "PNG needs a font, such as DejaVu Sans or Arial, and none is installed; .svg needs none."
                )
            with writing(str(file)):
                file.write_bytes(image)
        else:
            raise UsageError(f"a chart is written as .svg or .png, not as {file.name}.")


def plot(section: Section) -> Plot:
    """Return the chart of a section. Raises `UsageError` where there is nothing to draw."""
    drawn = chart(section if section.chart else replace(section, chart=_default(section)))
    if drawn is None:
        raise UsageError(f"section {section.name!r} has nothing to draw; to_pandas() gives its table.")
    return Plot(_alone(section.title, drawn))


def is_drawn(section: Section) -> bool:
    """Whether a section says how it is drawn and has something to draw."""
    return bool(section.chart and section.rows)


def _default(section: Section) -> dict[str, Any] | None:
    """Bars of the first column of times, or of the first numbers, by the first column of texts."""
    columns = list(zip(*section.rows, strict=True))
    numeric = [
        column.name
        for column, values in zip(section.columns, columns, strict=False)
        if all(value is None or is_number(value) for value in values)
    ]
    labels = [column.name for column in section.columns if column.name not in numeric]
    best = next((name for name in numeric if name.endswith("_ns")), next(iter(numeric), None))
    return {"kind": "bars", "label": labels[0], "parts": [best]} if labels and best else None


def _alone(title: str, drawn: Markup) -> str:
    """Return a chart of the page, the wide one where there are two, as an SVG of its own, with its title."""
    head, _, rest = drawn.partition("</svg>")[0].partition(">")
    label, height = (head.split(f"{name}=", 1)[1].split('"')[1] for name in ("aria-label", "viewBox"))
    form = Template((files("traceview.render") / "plot.svg").read_text(encoding="utf-8"), autoescape=True)
    drawn_alone: str = form.render(
        width=WIDTH, height=f"{float(height.split()[-1]) + HEADING:g}", label=Markup(label), patterns=PATTERNS,
        title=clean(title), heading=HEADING, rest=Markup(rest),
    )  # fmt: skip
    return drawn_alone
