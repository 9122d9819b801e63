"""Published times as rows: convolution algorithms (logs, DeepBench's tables, sweeps), collectives, frameworks (tables).

Invariant: a row holds what was printed. What a file leaves out is empty, or comes from `published.toml` with its
source; what cannot be read is counted and named.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from traceview import readers, sql, store
from traceview.decode.files import peek
from traceview.errors import InputError, UsageError
from traceview.experiments.algorithms.layers import parse
from traceview.experiments.imports import csv_tables, miopen
from traceview.experiments.imports.csv_tables import ALGORITHMS as TABLE
from traceview.experiments.imports.csv_tables import EXCHANGES, PASSES
from traceview.experiments.results import Journal
from traceview.paths import content, read_toml, temporary_folder
from traceview.tables import BY_NAME

MODELS = "scaling_models"
MOST_FILES = 1000
WITH_LAYERS = ("caffe_time", "convnet_benchmarks")
"""Readers of logs that tell the shapes of convolutions."""
PADDED = "height and width as printed, padding included"
Row = dict[str, Any]


@dataclass
class Published:
    """Rows found in some files."""

    rows: dict[str, list[Row]] = field(default_factory=dict)
    """By table."""
    read: list[tuple[Path, int]] = field(default_factory=list)
    """Files with how many rows they gave."""
    passed_over: list[tuple[Path, str]] = field(default_factory=list)
    """Files that gave none, with the reason."""
    lost: list[tuple[Path, str, int]] = field(default_factory=list)
    """Parts of a file that could not be read, and how often."""

    def tables(self) -> dict[str, list[Row]]:
        """All rows by table, with the models that fit the times of collectives."""
        models = csv_tables.models(self.rows.get(EXCHANGES, ()))
        return {**self.rows, MODELS: models} if models else dict(self.rows)


def gather(inputs: Iterable[Path]) -> Published:
    """The rows of files, and of those in folders. Raises `InputError` where there are none."""
    found = Published()
    files = list(_files(inputs))
    if len(files) > MOST_FILES:
        raise UsageError(f"{len(files):,} files are too many; name the folder of one publication.")
    for file in files:
        lost: Counter[str] = Counter()
        try:
            rows = list(_rows(file, lost))
        except (InputError, UsageError) as error:
            found.passed_over.append((file, str(error)))
            continue
        found.lost += [(file, what, n) for what, n in lost.most_common()]
        for table, row in rows:
            found.rows.setdefault(table, []).append(row)
        if rows:
            found.read.append((file, len(rows)))
        else:
            found.passed_over.append((file, "no time of a convolution whose shape it tells."))
    if not found.read:
        told = [f"{file.name}: {reason.removeprefix(f'{file} ').rstrip('.')}" for file, reason in found.passed_over[:3]]
        files_read = f"{len(files)} file{'s' * (len(files) != 1)}"
        raise InputError(f"no published times of convolutions in {files_read} ({'; '.join(told) or 'nothing there'}).")
    return found


def add(journal: Journal, tables: Mapping[str, Sequence[Row]]) -> int:
    """Put rows into the capture of a study, each once however often it is imported; how many were new."""
    n_new = 0
    for name, rows in tables.items():
        there = {_key(row) for row in journal.rows(name)}
        new = [row for row in rows if _key(row) not in there]
        journal.add_all({name: new})
        n_new += len(new)
    journal.finish()
    return n_new


def _key(row: Row) -> frozenset[tuple[str, Any]]:
    """A row as it can be looked up, without what it leaves empty."""
    return frozenset((name, value) for name, value in row.items() if value is not None)


def _files(inputs: Iterable[Path]) -> Iterator[Path]:
    for path in inputs:
        if path.is_dir():
            yield from sorted(file for file in path.iterdir() if file.is_file() and not file.is_symlink())
        elif path.is_file():
            yield path
        else:
            raise InputError(f"{path} {'is not a regular file or folder' if path.exists() else 'does not exist'}.")


def _rows(file: Path, lost: Counter[str]) -> Iterator[tuple[str, Row]]:
    """Each row with its table, and with what is known of the publication."""
    about = _publication(file.name)
    general = {name: value for name, value in about.items() if not isinstance(value, dict)}
    for table, row in _read(file, lost):
        columns = {column.name for column in BY_NAME[table].columns}
        known = {"source": file.name, "status": "published", **general}
        said = {name: value for name, value in known.items() if name in columns}
        said |= {name: value for name, value in row.items() if value is not None}
        yield table, said | about.get(str(said.get("backend")), {})


def _read(file: Path, lost: Counter[str]) -> Iterable[tuple[str, Row]]:
    """Read a file, by the reader that its name or its content asks for."""
    if miopen.NO_TIMES.search(file.name) and not miopen.is_database(file):
        raise InputError("a database of MIOpen without times; its find database (*.fdb.txt, *.ufdb.txt) has them.")
    if file.suffix.lower() == ".csv":
        return csv_tables.read(file, lost)
    rows = miopen.read(file, lost) if miopen.is_database(file) else _logged(file)
    return ((TABLE, row) for row in rows)


def _logged(file: Path) -> Iterator[Row]:
    """The layers of a log whose shapes it tells, through the reader of its format."""
    reader = readers.detect(peek(file))
    if reader.NAME not in WITH_LAYERS:
        raise InputError(f"{reader.TITLE}: it records no shapes of convolutions beside their times.")
    query = sql.load(content("queries") / "published" / "layers.sql")
    with temporary_folder("published-") as folder:
        capture = store.convert([file], folder / "capture")
        with store.open_capture(capture) as connection:
            rows = query.run(connection)
    places: dict[str, int] = {}
    for network, name, impl, direction, dur_ns, n, workspace, shape in rows:
        if direction not in PASSES:
            continue
        layer, batch = parse(shape)
        # Layers without names are numbered, as convnet-benchmarks does.
        number = places.setdefault(shape, len(places) + 1)
        named = layer.name if network else f"L{number}"
        facts = layer.facts() | {
            "layer": name.partition("/")[0] if name and " " not in name else named,
            # Without its input's shape: `AlexNet 128x3x224x224`.
            "model": re.sub(r" \d+(x\d+)+$", "", network or "") or "convnet-benchmarks layers",
        }
        yield {
            **facts,
            "direction": PASSES[direction],
            "batch": batch,
            "wall_ns": dur_ns,
            "n": n,
            "workspace_bytes": _bytes(workspace),
            "reason": PADDED if workspace else None,
            "flop": layer.flop(batch or 1) * (2 if direction == "backward" else 1),
            **_implementation(impl),
        }


def _bytes(text: str | None) -> int | None:
    """`291.50M`; the log does not say whether that is 10^6 or 2^20, so it is the smaller one."""
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)M", text or "")
    return round(float(found[1]) * 1e6) if found else None


def _implementation(name: str | None) -> Row:
    """Library, implementation and algorithm of what a log calls an implementation; Caffe's log names none."""
    if name is None:
        return {"backend": "Caffe", "implementation": "Convolution"}
    for entry in _facts()["implementation"]:
        if re.search(entry["name"], name):
            return {key: value for key, value in entry.items() if key != "name"}
    return {"backend": name, "implementation": name}


def _publication(name: str) -> dict[str, Any]:
    """Return the known facts of a file beside its own."""
    found: dict[str, Any] = {}
    for entry in _facts()["publication"]:
        if re.search(entry["file"], name):
            found |= {key: value for key, value in entry.items() if key != "file"}
    return found


def _facts() -> dict[str, Any]:
    return read_toml(Path(__file__).with_suffix(".toml"))
