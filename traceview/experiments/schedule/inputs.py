"""Inputs of `traceview schedule`: a function that makes a model, a capture, or earlier measurements.

Invariant: what is not known (which layer feeds which, the modules' names) is said, and the plan says what it holds for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from traceview import sql, store
from traceview.convolution.plan import SIZES
from traceview.errors import InputError, UsageError
from traceview.experiments import records, results
from traceview.experiments.algorithms import sources
from traceview.experiments.algorithms.measuring import SOURCE, processor
from traceview.experiments.schedule.rows import FLOAT, Given, chain, key, shape_of
from traceview.paths import content

MODULE, SHAPE = "module", "shape"
MOST_LAYERS, MOST_EDGES = 2000, 10_000
GRAPH = {"layers": tuple[Any, ...], "edges": tuple[tuple[str, ...], ...]}
LAYER = {"module": str, "dgrad": bool, "shape": dict[str, int | str], "calls": dict[str, int]}
NEEDED = {"module", "dgrad", "shape"}
"""Types of what `traceview schedule` notes of a model, and of each of its layers, and what none of these lacks."""
Say = Callable[[str], None]
Rows = list[dict[str, Any]]


def is_factory(text: str) -> bool:
    """Whether this is FILE.py:FACTORY."""
    return text.rpartition(":")[0].endswith(".py")


def is_study(path: Path) -> bool:
    """Whether a folder holds measured rows of an experiment."""
    return (path / "raw" / results.JOURNAL).is_file()


def is_elsewhere(path: Path) -> bool:
    """Whether a folder holds results of an experiment with times of algorithms, none of them measured on a CPU."""
    if not path.is_dir() or not is_study(path):
        return False
    query = sql.load(content("queries") / "experiments" / "elsewhere.sql")
    with store.open_capture(path) as connection:
        ((n, n_here),) = query.run(connection)
    return bool(n) and not n_here


def of_study(
    path: Path, batch: int | None, threads: int | None, network: str | None, directions: Sequence[str], say: Say
) -> Given:
    """The layers that a study (or a schedule) measured, with its rows, in the order in which they were measured.

    Raises `UsageError` where it holds several networks, batches or numbers of threads and none of them is chosen.
    """
    query = sql.load(content("queries") / "experiments" / "measured_algorithms.sql")
    with store.open_capture(path) as connection:
        found = query.run(connection)
        names = [column[0] for column in connection.description or ()]
    every = [dict(zip(names, row, strict=True)) for row in found]
    rows = [row for row in every if row["device"] == "cpu" and row["dtype"] == FLOAT]
    if not rows:
        raise InputError(f"{path} holds no times of float32 convolutions that were measured on a CPU.")
    if len(rows) < len(every):
        say(f"{len(every) - len(rows)} times of other devices or types are left out: plans are for float32 on a CPU")
    rows = _chosen(rows, "model", network, "network", "--network NAME")
    rows = _chosen(rows, "batch", batch, "batch", "--batch N")
    rows = _chosen(rows, "threads", threads, "number of threads", "--threads N")
    known = {key(row): row for row in reversed(rows)}
    if len(known) > MOST_LAYERS:
        raise UsageError(f"{len(known):,} shapes are too many for a plan; choose some with --network or --batch.")
    graph = _graph(results.described(path), known)
    named: list[dict[str, Any]] = graph["layers"] if graph else []
    if not graph:
        first = list(dict.fromkeys(key(row) for row in rows))
        named = [{"module": known[each]["layer"], "shape": shape_of(known[each]), "dgrad": True} for each in first]
        named[0]["dgrad"] = len(named) == 1
        if len(named) > 1:
            say("layers are taken as a chain in the order of the study, each shape once; its first needs no dgrad")
    named = [{**layer, "directions": list(directions)} for layer in named]
    told = next((row["source"] for row in rows if str(row.get("source")).startswith(SOURCE)), "")
    version = next((str(row["backend_version"]) for row in rows if row["backend"] == "torch"), "")
    return Given(
        named,
        graph["edges"] if graph else chain(named),
        {"torch": version, "cpu": told.removeprefix(SOURCE).partition(", with ")[0], "threads": rows[0]["threads"]},
        MODULE if graph else SHAPE,
        "as the model ran them" if graph else "a chain, in the order of the study",
        rows,
        is_measured=True,
    )


def of_capture(path: Path, batch: int | None, threads: int, say: Say) -> Given:
    """The layers that a capture recorded, to be measured."""
    found = [each for each in sources.of_capture(path, say) if each.layer.dtype == FLOAT]
    if not found:
        raise InputError(f"{path} recorded no float32 convolutions, for which plans are.")
    layers: dict[tuple[Any, ...], dict[str, Any]] = {}
    for each in found[:MOST_LAYERS]:
        shape = shape_of({**each.layer.facts(), "batch": batch or each.batch})
        entry = {"module": each.layer.name, "shape": shape, "dgrad": "dgrad" in each.directions}
        # The same layer may be there once for each type that its passes told.
        earlier = layers.setdefault((each.layer.name, *key(shape)), {**entry, "directions": []})
        earlier["directions"] = [*dict.fromkeys([*earlier["directions"], *each.directions])]
        earlier["dgrad"] |= entry["dgrad"]
    named = list(layers.values())
    repeated = [name for name, n in Counter(layer["module"] for layer in named).items() if n > 1]
    for name in repeated:
        for place, layer in enumerate([one for one in named if one["module"] == name][1:], 2):
            layer["module"] = f"{name} ({place})"
    say("layers are taken as a chain in the order in which the capture has them")
    about = {"torch": "", "cpu": processor(), "threads": threads}
    return Given(named, chain(named), about, SHAPE, "a chain, in the order of the capture")


def _chosen(rows: Rows, column: str, value: object, what: str, how: str) -> Rows:
    """The rows with this value, or with the only one that there is."""
    there = list(dict.fromkeys(row.get(column) for row in rows))
    listed = ", ".join(str(each) for each in there[:20])
    if value is None and len(there) > 1:
        raise UsageError(f"more than one {what} was measured there ({listed}); choose one with {how}.")
    found = [row for row in rows if value is None or row.get(column) == value]
    if not found:
        raise UsageError(f"no {what} {value} was measured there, but {listed}.")
    return found


def _graph(about: dict[str, Any], known: Iterable[tuple[Any, ...]]) -> dict[str, Any] | None:
    """The layers and edges that `traceview schedule` noted of a model, where they are whole and measured."""
    try:
        told = records.checked(about.get("graph"), GRAPH, "graph")
        layers = [records.checked(layer, LAYER, "graph") for layer in told["layers"]]
        edges = [(one, other) for one, other in told["edges"]]
        shapes = {key(layer["shape"]) for layer in layers if {*layer} >= NEEDED}
    except (InputError, KeyError, ValueError):
        return None
    is_whole = all({*layer} >= NEEDED and len(layer["shape"]) == len(SIZES) + 1 for layer in layers)
    is_plain = 0 < len(layers) <= MOST_LAYERS and len(edges) <= MOST_EDGES
    return {"layers": layers, "edges": edges} if is_whole and is_plain and shapes <= {*known} else None
