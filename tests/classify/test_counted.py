"""FLOP of calls recorded here on a CPU: as counted by hand, and by FlopCounterMode where it is right."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BY_HAND = {
    "broadcast": 2 * 15 * 7 * 11 * 13,
    "matrix by vector": 2 * 42 * 11,
    "addmm beta": 2 * 7 * 11 * 13,
    "baddbmm beta 0": 2 * 2 * 3 * 4 * 5,
    "einsum": 2 * 6 * 4 * 8 * 5,
    "vmap": 2 * 3 * 4 * 5 * 6,
    # Four products of real numbers for one of complex ones.
    "complex": 4 * 2 * 7 * 11 * 13,
    # How many of its elements a sparse matrix stores is not recorded.
    "sparse": None,
    "jagged": 2 * 8 * 8 * 6,
    "nothing": 0,
    "circular": 2 * 6 * 4 * 9 * 2 * 64,
    "transposed 3-D": 2 * 4 * 3 * 27 * 2 * 125,
    "depthwise": 2 * 8 * 9 * 2 * 81,
    # Forward, and both gradients: as many each.
    "grouped, trained": 3 * 2 * 16 * 2 * 9 * 2 * 64,
    "cnn, trained": 3 * 2 * (8 * 3 * 9 * 2 * 256 + 16 * 2 * 9 * 2 * 36),
    "attention, shared": 2 * 16 * 16 * 16 * 64,
    # From the top left: 16 queries see 1 to 16 keys.
    "attention, causal": 2 * 16 * 136 * 64,
    "attention, masked": 2 * 16 * 16 * 16 * 64,
    "attention, trained": (2 + 4) * 16 * 16 * 16 * 64,
    # Forward, its gradient, and the gradients of both: six products of 8 x 16 by 16 x 4.
    "twice": 6 * 2 * 8 * 16 * 4,
    # Three passes over both layers, and the first of them once more.
    "checkpoint": (3 * 2 + 1) * 2 * 8 * 16 * 32,
    "lstm, trained": 3 * 2 * 10 * 64 * (8 + 16),
    # Its cells: nothing asks for the gradient of the first state.
    "gru, trained": 3 * 2 * 10 * 48 * (8 + 16) - 2 * 2 * 48 * 16,
    # As it runs: for each of 7 outputs 4 x 5 by 5 x 6, then by the other input.
    "bilinear": 7 * (2 * 4 * 5 * 6 + 2 * 4 * 6),
    "grouped products": 2 * 32 * 16 * 24,
    "foreach": 0,
    "fused": 0,
    "empty list": 0,
}

NOT_COUNTED = {"matrix by vector", "bilinear", "lstm, trained", "grouped products"}
"""FlopCounterMode of PyTorch 2.13 has no formula: products with vectors, bilinear layers, oneDNN's layers, groups."""
NO_ATTENTION = {"attention, shared", "attention, causal", "attention, masked", "attention, trained"}
"""It has none for flash attention of CPUs either."""
COUNTED_OTHERWISE = {
    "complex": 2 * 7 * 11 * 13,
    "sparse": 2 * 20 * 20 * 5,
    # Nested tensors end it with an error.
    "jagged": None,
    # Weight gradients of grouped convolutions count as if they had no groups: four times as many.
    "grouped, trained": (2 + 4) * 2 * 16 * 2 * 9 * 2 * 64,
    "cnn, trained": 2 * (3 * 8 * 3 * 9 * 2 * 256 + (2 + 4) * 16 * 2 * 9 * 2 * 36),
}


@pytest.mark.long
def test_flop_are_those_counted_by_hand(captures: Any, tmp_path: Path) -> None:
    """FlopCounterMode is wrong where it counts otherwise, and how it counts is said here."""
    trace = tmp_path / "trace.json"
    script = Path(__file__).with_name("counted_cases.py")
    told = subprocess.run([sys.executable, script, trace], capture_output=True, text=True, check=True).stdout
    counter = json.loads(told.splitlines()[-1])
    connection = captures.open(trace)
    found = connection.execute(
        """SELECT substr(r.name, 7), coalesce(sum(k.matrix_flop), 0), bool_or(k.reason IS NOT NULL)
        FROM raw.ranges r JOIN raw.ops o ON o.start_ns BETWEEN r.start_ns AND r.start_ns + r.dur_ns
        LEFT JOIN costed.call c ON c.op_id = o.id LEFT JOIN costed.cost k USING (number)
        WHERE r.name LIKE 'case: %' GROUP BY r.name"""
    ).fetchall()
    flop = {name: None if unknown and not total else total for name, total, unknown in found}
    assert flop == BY_HAND
    expected = BY_HAND | dict.fromkeys(NOT_COUNTED | NO_ATTENTION, 0) | COUNTED_OTHERWISE
    assert counter == expected
