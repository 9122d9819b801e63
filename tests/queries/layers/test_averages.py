"""Average times of a framework's own log, by layer and kind."""

from __future__ import annotations

import json
from pathlib import Path

from given import Given, pick, section


def average(given: Given, layer: str | None, type_: str, direction: str, ns: int, run: int = 1) -> None:
    args = {"source": "log", "run": run, "layer": layer, "type": type_, "direction": direction, "ns": ns, "n": 4}
    given.add("events", category="layer_time", name=layer, args=json.dumps(args))


def test_a_layers_nodes_of_a_type_are_added_up_and_runs_kept_apart(tmp_path: Path) -> None:
    given = Given()
    average(given, "conv1", "Convolution", "forward", 100)
    average(given, "conv1", "Convolution", "backward_data", 200)
    average(given, "conv1", "Convolution", "backward_filter", 300)
    average(given, "conv1", "Plus", "forward", 150)
    average(given, "conv1", "Plus", "forward", 250)
    average(given, "conv1", "Convolution", "forward_backward", 50, run=2)
    average(given, None, "network", "forward", 9_999)
    found = section(given.open(tmp_path), "layers/averages")
    assert pick(found, "run", "layer", "kind", "calls", "forward_ns", "backward_ns", "both_ns", "share_pct") == [
        (1, "conv1", "conv", 4, 100, 500, None, 60.0),
        (1, "conv1", "bias", 4, 400, None, None, 40.0),
        (2, "conv1", "conv", 4, None, None, 50, 100.0),
    ]
