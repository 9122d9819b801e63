"""Lists what is available: trace formats, reports, advice, options to try, networks, categories, collectors, tables."""

from __future__ import annotations

import argparse
import ast
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from traceview import render
from traceview.cli import names
from traceview.cli.options import add_machine_options, opened
from traceview.cli.output import emit
from traceview.errors import UsageError
from traceview.paths import read_toml

if TYPE_CHECKING:
    from traceview.analysis.model import Section

HELP = "list formats, reports, advice, options, networks, categories, collectors or tables"

EXAMPLES = """examples:
  traceview list                                        what can be listed
  traceview list reports
  traceview list networks                               the built-in networks of `traceview study algorithms`
  traceview list networks alexnet                       its layers, each with its matrix product
  traceview list categories
  traceview list categories --unmatched trace.json.gz   names in the trace that no rule matches, by time
  traceview list formats --format json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview list`."""
    parser.add_argument(
        "kind",
        nargs="?",
        choices=tuple(KINDS),
        metavar="WHAT",
        help=f"{', '.join(KINDS)} (default: what can be listed)",
    )
    name = parser.add_argument("name", nargs="?", metavar="NAME", help="with networks: the one whose layers to list")
    names.completed(name, "experiments.algorithms.networks")
    parser.add_argument("--format", choices=render.FORMATS, default="table", help="default: table")
    parser.add_argument(
        "--unmatched",
        dest="input",
        metavar="INPUT",
        help="with categories: names in a capture or trace that no rule matches, by time",
    )
    add_machine_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print the list; returns 0."""
    if args.input and args.kind != "categories":
        raise UsageError("use --unmatched with `traceview list categories`.")
    if args.name and args.kind != "networks":
        raise UsageError("only `traceview list networks` takes a name.")
    section = _asked(args)
    renderer = render.renderer(args.format)
    if renderer.FOR_PEOPLE:
        from traceview.analysis.model import Report

        emit([renderer.render(Report(args.kind or "kinds", "", "", (section,), ()))], None)
    else:
        emit(renderer.stream(section.columns, [section.rows]), None)
    return 0


def _asked(args: argparse.Namespace) -> Section:
    """The list that the command line names."""
    if args.input:
        return unmatched(args)
    if args.name:
        return layers(args.name)
    return KINDS[args.kind]() if args.kind else kinds()


def kinds() -> Section:
    """List the kinds of things that can be listed."""
    rows = [(f"traceview list {name}", (function.__doc__ or "").rstrip(".")) for name, function in KINDS.items()]
    return _section(("command", "lists"), rows)


def formats() -> Section:
    """The trace formats that are read, in the order in which they are tried."""
    from traceview.readers import READERS

    rows = [(reader.NAME, reader.TITLE, reader.HOW) for reader in READERS]
    return _section(("format", "what", "how to capture"), rows)


def reports() -> Section:
    """The reports, each of which answers a question."""
    from traceview.analysis.reports import load, names

    recipes = [load(name) for name in names()]
    return _section(("report", "title", "doc"), [(recipe.name, recipe.title, recipe.doc) for recipe in recipes])


def advice() -> Section:
    """The advice rules, each of which looks for a problem."""
    from traceview.analysis.advice import load

    return _section(("advice", "problem", "doc"), [(rule.name, rule.title, rule.doc) for rule in load()])


def options() -> Section:
    """The options that traceview tune tries, and the advice that names them."""
    from traceview.experiments.tune.options import load

    head = ("option", "group", "framework", "what", "numbers", "set by", "advice")
    rows = [
        (
            option.name,
            option.group,
            f"{option.framework} {option.versions}".strip(),
            option.title,
            option.numbers + (", only when asked" if option.only_when_asked else ""),
            ", ".join((["hook"] if option.hook else []) + [*option.environment, *option.unset]),
            ", ".join(option.rules),
        )
        for option in load()
    ]
    return _section(head, rows)


def networks() -> Section:
    """The built-in networks, whose convolutions `traceview study algorithms` measures."""
    from traceview.experiments.algorithms import networks

    rows = []
    for network in map(networks.load, networks.names()):
        dense = sum(node.macs for node in network.nodes if node.kind == "fc")
        dense_pct = 200 * dense / network.flop if network.flop else None
        n_convolutions = len(network.convolutions())
        rows.append((network.name, network.title, n_convolutions, network.parameters, network.flop, dense_pct))
    head = ("network", "what", "convolutions", "parameters", "flop of an image", "of fully connected layers pct")
    return _section(head, rows, types={3: "BIGINT", 4: "BIGINT", 5: "DOUBLE"})


def layers(name: str) -> Section:
    """The layers of a network, for one image: what they compute as a matrix product, and the memory to unroll it."""
    from traceview.experiments.algorithms import networks

    head = ("layer", "kind", "input", "output", "parameters", "flop", "gemm m x n x k", "im2col bytes")
    rows = []
    for node in networks.load(name).nodes:
        product, unrolled = node.product()
        shapes = ("x".join(map(str, shape)) for shape in (node.given, node.out))
        rows.append((node.name, node.kind, *shapes, node.parameters, 2 * node.macs, product, unrolled))
    return _section(head, rows, types={4: "BIGINT", 5: "BIGINT", 7: "BIGINT"})


def categories() -> Section:
    """The categories of kernels, operators and primitives, with the number of rules for each."""
    from traceview.classify.rules import FOLDER

    counts: dict[str, Counter[str]] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        for rule in read_toml(path).get("rule", []):
            if "category" in rule:
                counts.setdefault(rule["category"], Counter())[path.stem] += 1
    kinds = sorted({kind for count in counts.values() for kind in count})
    rows = [(category, *(count[kind] for kind in kinds)) for category, count in sorted(counts.items())]
    return _section(("category", *(f"rules for {kind}" for kind in kinds)), rows)


def unmatched(args: argparse.Namespace) -> Section:
    """The names in the input that no rule claims."""
    from traceview.analysis.reports import unmatched as query

    with opened(args) as connection:
        return query(connection)


def collectors() -> Section:
    """The collectors, one for each framework."""
    # They run where traceview is not installed, so they are read and never imported.
    from traceview.paths import content

    rows = []
    for path in sorted(content("collectors").glob("*.py")):
        doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        rows.append((path.stem, doc.partition("\n")[0]))
    return _section(("collector", "what"), rows)


def tables() -> Section:
    """The tables and views that `traceview sql` sees."""
    from traceview.analysis.schema import tables

    return tables().sections[0]


_LISTS = (formats, reports, advice, options, networks, categories, collectors, tables)
KINDS: dict[str, Callable[[], Section]] = {function.__name__: function for function in _LISTS}


def _section(
    columns: tuple[str, ...], rows: Sequence[tuple[object, ...]], types: Mapping[int, str] | None = None
) -> Section:
    """A table; `types` of columns that are not text, by their place."""
    from traceview.analysis.model import Column, Section

    names = (name.replace(" ", "_") for name in columns)
    shape = tuple(Column(name, (types or {}).get(place, "VARCHAR"), "") for place, name in enumerate(names))
    return Section("list", "", "", shape, tuple(rows), None, "")
