"""Time by layer and pass."""

from __future__ import annotations

from pathlib import Path

from given import Given, pick, section


def test_the_update_of_the_weights_is_no_forward_pass_whatever_scope_it_has(tmp_path: Path) -> None:
    given = Given()
    for name, start in (("net/conv1/Conv2D:Conv2D", 0), ("StatefulPartitionedCall/sgd/Mul_7:Mul", 100)):
        scope = name.removeprefix("StatefulPartitionedCall/").rpartition("/")[0]
        row = {"name": name, "module_hierarchy": scope, "start_ns": start * 1000, "dur_ns": 50_000}
        given.add("ops", pid=1, tid=1, **row)
    found = section(given.open(tmp_path), "layers/layers")
    assert pick(found, "layer", "forward_ns", "backward_ns", "other_ns", "top") == [
        ("net/conv1", 50_000, 0, 0, "conv"),
        ("sgd", 0, 0, 50_000, "optimizer"),
    ]
