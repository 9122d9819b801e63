"""Files of facts: no key is lost, words are the vocabulary's, facts have sources, rows win their own examples."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from given import Given, rows
from vocabulary import ALGORITHMS

from traceview.classify import facts
from traceview.classify.rules import FOLDER


def entries(name: str) -> list[dict[str, Any]]:
    file = FOLDER / facts.TABLES[name]["file"]
    return list(tomllib.loads(file.read_text(encoding="utf-8"))[name])


@pytest.mark.parametrize("name", [name for name, table in facts.TABLES.items() if "family" not in table])
def test_no_key_is_lost(name: str) -> None:
    assert {key for entry in entries(name) for key in entry} - {"examples"} <= set(facts.columns(name))
    assert len(facts.rows(name)) == len(entries(name)) > 0


def test_every_table_of_a_file_is_read() -> None:
    for file in {table["file"] for table in facts.TABLES.values() if "family" not in table}:
        there = tomllib.loads((FOLDER / file).read_text(encoding="utf-8"))
        assert set(there) == {name for name, table in facts.TABLES.items() if table["file"] == file}


def test_operands_are_where_models_have_them() -> None:
    """Every model of a convolution names them alike, so that a table has them by name."""
    columns = list(facts.columns("conv"))
    found = {row[columns.index("name")]: dict(zip(columns, row, strict=True)) for row in facts.rows("conv")}
    assert found["aten::cudnn_convolution"]["padding"] == 2 and found["aten::cudnn_convolution"]["bias"] is None
    assert all(row["input"] is not None and row["weight"] is not None for row in found.values())
    backward = found["aten::convolution_backward"]
    assert (backward["grad"], backward["input"], backward["output_mask"]) == (0, 1, 10)
    # Of an operator within another the inner one is believed first.
    assert found["aten::convolution"]["position"] < found["aten::conv2d"]["position"]


def test_words_are_the_vocabulary() -> None:
    assert {entry["name"] for entry in entries("algorithm")} <= ALGORITHMS
    for tendency in entries("tendency"):
        assert set(tendency["order"]) <= ALGORITHMS and len(set(tendency["order"])) == len(tendency["order"])


def test_every_fact_has_a_source() -> None:
    assert all(len(entry["source"]) > 20 for name in ("algorithm", "tendency", "device") for entry in entries(name))


def test_every_device_wins_its_own_examples(tmp_path: Path) -> None:
    devices = [(entry["source"], example) for entry in entries("device") for example in entry["examples"]]
    assert {source for source, _ in devices} == {entry["source"] for entry in entries("device")}
    given = Given()
    for number, (_, example) in enumerate(devices):
        given.device(example, device=number)
    found = rows(given.open(tmp_path), "SELECT peaks_from, name FROM device_peaks ORDER BY device")
    assert found == devices


def test_every_framework_is_found_by_its_own_examples() -> None:
    known = entries("framework")
    for entry in known:
        for example in entry.get("examples", []):
            found = [other["name"] for other in known if "kernels" in other and re.search(other["kernels"], example)]
            assert found == [entry["name"]]
