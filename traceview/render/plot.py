"""Charts in notebooks and files: the chart of a section as the page draws it, with all that it needs inside.

Invariant: a chart is SVG without scripts, so that it shows without a network; colours are the page's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from traceview.analysis.model import Section
from traceview.errors import UsageError
from traceview.render.characters import clean
from traceview.render.charts import PATTERNS, WIDTH, chart
from traceview.render.units import is_number

HEADING = 30
"""Room for the title above a chart."""
STYLE = Markup(
    "text{font-size:12px;font-family:system-ui,'Segoe UI',Arial,'Helvetica Neue','Liberation Sans','Noto Sans',"
    "'DejaVu Sans',sans-serif;fill:#1a1d21}.heading{font-size:15px;font-weight:600}.dim{fill:#5a6470}"
    ".on{fill:#fff;paint-order:stroke;stroke:rgba(0,0,0,.55);stroke-width:2px}.edge{stroke:#fff;stroke-width:1}"
    ".grid{stroke:#c9d0d8;stroke-width:1}.line{fill:none;stroke-width:2}"
)
"""The page's rules for charts (`page.css`), on white; they hold inside the class of a chart alone. What makes PNG knows
fonts by their names only."""


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
    """Return a chart of the page as an SVG of its own, with its title."""
    head, _, rest = drawn.partition(">")
    height = float(head.split('viewBox="', 1)[1].split('"', 1)[0].split()[-1]) + HEADING
    scoped = Markup("").join(f".traceview-chart {rule}}}" for rule in STYLE.split("}") if rule)
    label = head.split("aria-label=", 1)[1]
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" class="traceview-chart" viewBox="0 0 {width} {height}" '
        'width="{width}" height="{height}" role="img" aria-label={label}><style>{style}</style>'
        '<defs>{patterns}</defs><rect width="100%" height="100%" fill="#fff"/>'
        '<text class="heading" x="0" y="18">{title}</text><g transform="translate(0 {heading})">{rest}</g></svg>\n'
    ).format(
        width=WIDTH, height=f"{height:g}", label=Markup(label), style=Markup(scoped), patterns=PATTERNS,
        title=clean(title), heading=HEADING, rest=Markup(rest.removesuffix("</svg>")),
    )  # fmt: skip
