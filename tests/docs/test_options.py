"""docs/options.md has a row for every option, and says of it what the table of options says."""

from __future__ import annotations

from pathlib import Path

import pytest

from traceview.experiments.tune import options
from traceview.experiments.tune.options import Option

PAGE = Path(__file__).parents[2] / "docs" / "options.md"
TITLES = {
    "any": "Any framework",
    "torch": "PyTorch",
    "tensorflow": "TensorFlow",
    "jax": "JAX",
    "onnxruntime": "ONNX Runtime",
    "mxnet": "MXNet",
    "theano": "Theano",
}


def documented(option: Option) -> str:
    """The row of an option."""
    numbers = f"{option.numbers}, only when asked" if option.only_when_asked else option.numbers
    seen = f"{option.seen}. Not run: {option.not_run}" if option.not_run else option.seen
    what = f"{option.title} ({option.versions})" if option.versions else option.title
    rules = ", ".join(f"`{rule}`" for rule in option.rules)
    cells = (f"`{option.name}`", option.group, what, ", ".join(option.needs), numbers, rules, seen)
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


@pytest.mark.parametrize("framework", TITLES)
def test_the_page_has_the_rows_of_a_framework(framework: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    part = text.partition(f"\n## {TITLES[framework]}\n")[2].partition("\n## ")[0]
    rows = [line for line in part.splitlines() if line.startswith("| `")]
    assert rows == [documented(option) for option in options.load() if option.framework == framework]


def test_every_option_is_of_a_framework_with_a_heading() -> None:
    assert {option.framework for option in options.load()} <= set(TITLES)
