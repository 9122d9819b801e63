"""Collected operator times: what our collectors write where a framework keeps no timeline."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from asked import connected, rows

from traceview import store
from traceview.errors import InputError

SAMPLE = "samples/operators/theano-1.0.5-lenet-cpu.json.gz"


def converted(folder: Path, text: str) -> Any:
    """A connection to what a text was read as."""
    path = folder / "trace.json"
    path.write_text(text)
    store.convert([path], folder / "out")
    return connected(folder / "out")


def test_a_collected_theano_run(captures: Any, root: Path) -> None:
    connection = captures.open(root / SAMPLE)
    assert rows(connection, "SELECT step FROM steps ORDER BY 1") == [(4,), (5,)]
    calls = "SELECT layer, direction, algorithm, any_value(flop), count(*) FROM conv_calls GROUP BY ALL ORDER BY ALL"
    small, large = 2 * 20 * 25 * 64 * 24 * 24, 2 * 50 * 20 * 25 * 64 * 8 * 8
    assert rows(connection, calls) == [
        ("conv1", "fprop", "explicit_gemm", small, 2),
        ("conv1", "wgrad", "explicit_gemm", small, 2),
        ("conv2", "dgrad", "explicit_gemm", large, 2),
        ("conv2", "fprop", "explicit_gemm", large, 2),
        ("conv2", "wgrad", "explicit_gemm", large, 2),
    ]
    passes = "SELECT phase, bool_and(is_backward), bool_or(is_backward) FROM ops GROUP BY 1 ORDER BY 1"
    assert rows(connection, passes) == [
        ("backward", True, True),
        ("forward", False, False),
        ("optimizer", False, False),
    ]
    clock = rows(connection, "SELECT framework, clock FROM captures")
    assert clock[0][0] == "Theano" and clock[0][1].startswith("operators' durations are measured, their starts are not")


def test_operators_of_a_call_do_not_overlap(captures: Any, root: Path) -> None:
    connection = captures.open(root / SAMPLE)
    assert rows(connection, "SELECT count(*), max(depth) FROM ops") == [(149, 0)]


def test_times_are_exact(tmp_path: Path) -> None:
    event = {"ph": "X", "cat": "operator", "name": "Dot22", "ts": "1795253787995697.123", "dur": "0.5"}
    connection = converted(tmp_path, json.dumps({"traceviewOperators": {}, "traceEvents": [event]}))
    assert rows(connection, "SELECT origin_unix_ns FROM captures") == [(1795253787995697123,)]
    assert rows(connection, "SELECT dur_ns, category FROM ops") == [(500, "gemm")]


@pytest.mark.parametrize("about", ["[]", "7", '{"clock": [1, {}]}'])
def test_what_it_says_of_itself_may_be_anything(tmp_path: Path, about: str) -> None:
    text = f'{{"traceviewOperators": {about}, "traceEvents": [{{"ph": "X", "cat": "operator", "ts": 1, "dur": 1}}]}}'
    if not about.startswith("{"):
        with pytest.raises(
            InputError, match="is not a recognised trace format"
        ):  # It is not the key that our collectors write.
            converted(tmp_path, text.replace("X", "nothing"))
        return
    assert rows(converted(tmp_path, text), "SELECT count(*) FROM ops") == [(1,)]


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_cut_file_keeps_what_is_whole(root: Path, tmp_path: Path, share: float) -> None:
    text = gzip.decompress((root / SAMPLE).read_bytes()).decode()
    connection = converted(tmp_path, text[: int(len(text) * share)])
    assert rows(connection, "SELECT count(*) > 20 FROM ops") == [(True,)]
    assert rows(connection, "SELECT count(*) FROM quality WHERE kind LIKE '%cut off%'") == [(1,)]
