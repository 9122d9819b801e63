"""Own tables of times of frameworks, beside measured ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from asked import connected
from given import section

from traceview.errors import InputError
from traceview.experiments import results
from traceview.experiments.imports import published


def csv(root: Path) -> str:
    """The table that the page shows."""
    found = re.search(r"(?ms)^```csv\n(.*?)^```", (root / "docs/frameworks.md").read_text(encoding="utf-8"))
    assert found
    return found[1]


def test_the_table_of_the_page_is_ranked_within_its_source(root: Path, tmp_path: Path) -> None:
    file = tmp_path / "times.csv"
    more = "torch7,lenet,,forward,64,0.5,Tesla M40,my notes\ntorch7,lenet,,gradient,64,1.8,Tesla M40,my notes\n"
    file.write_text(csv(root) + more, encoding="utf-8")
    measured = {
        "framework": "torch", "model": "lenet", "mode": "forward", "batch": 64, "threads": 1, "device": "cpu",
        "step_ns": 9_000_000, "status": "timed", "source": "here",
    }  # fmt: skip
    tables = published.gather([file]).tables()
    tables["framework_times"].append(measured)
    connection = connected(results.write(tmp_path / "study", tables, {"kind": "study frameworks"}))
    found = {row["framework"]: row for row in section(connection, "frameworks/published")}
    assert {name: (row["forward_ns"], row["both_ns"], row["both_place"]) for name, row in found.items()} == {
        "torch7": (500_000, 1_800_000, 1), "caffe": (800_000, 2_400_000, 2),
    }  # fmt: skip
    (layer,) = section(connection, "frameworks/layers")
    assert (layer["layer"], layer["pass"], layer["busy_ns"], layer["source"]) == ("conv1", "forward", 2e5, "my notes")
    assert section(connection, "frameworks/bias_relu") == []
    assert [row["framework"] for row in section(connection, "frameworks/times")] == ["torch"]


def test_what_a_publication_does_not_time_has_no_place(tmp_path: Path) -> None:
    """Nobody ran forward pass and gradients; of a layer 0 ms is a time, as logs print them."""
    file = tmp_path / "times.csv"
    lines = (
        "torch,alexnet,,forward,10", "tf,alexnet,,forward,5", "caffe,alexnet,,train,60", "mxnet,alexnet,,train,30",
        "tf,alexnet,relu,train,0",
    )  # fmt: skip
    file.write_text("\n".join(("framework,model,layer,pass,ms", *lines)), encoding="utf-8")
    capture = results.write(tmp_path / "study", published.gather([file]).tables(), {"kind": "study frameworks"})
    found = section(connected(capture), "frameworks/published")
    assert {row["framework"]: (row["forward_place"], row["both_place"]) for row in found} == {
        "tf": (1, None), "torch": (2, None), "caffe": (None, None), "mxnet": (None, None),
    }  # fmt: skip
    assert {row["framework"]: (row["training_ns"], row["training_place"]) for row in found} == {
        "tf": (None, None), "torch": (None, None), "caffe": (60e6, 2), "mxnet": (30e6, 1),
    }  # fmt: skip


def test_layers_of_other_devices_and_versions_stand_apart(tmp_path: Path) -> None:
    """A share is one of the passes, or of the whole training steps, which hold both passes."""
    file = tmp_path / "times.csv"
    lines = (
        "caffe,1.0,conv1,forward,0.2,Tesla M40", "caffe,1.0,conv1,backward,0.6,Tesla M40",
        "caffe,1.0,conv1,train,1,Tesla M40", "caffe,1.0,conv1,forward,0.5,Tesla K40",
        "caffe,0.9,conv1,forward,0.3,Tesla M40",
    )  # fmt: skip
    file.write_text(
        "\n".join(("framework,version,layer,pass,ms,device,model", *(f"{line},lenet" for line in lines))), "utf-8"
    )
    capture = results.write(tmp_path / "study", published.gather([file]).tables(), {"kind": "study frameworks"})
    names = ("framework", "device", "pass", "busy_ns", "busy_pct")
    found = [tuple(row[name] for name in names) for row in section(connected(capture), "frameworks/layers")]
    assert found == [
        ("caffe 0.9", "Tesla M40", "forward", 3e5, 100.0),
        ("caffe 1.0", "Tesla K40", "forward", 5e5, 100.0),
        ("caffe 1.0", "Tesla M40", "backward", 6e5, 75.0),
        ("caffe 1.0", "Tesla M40", "forward", 2e5, 25.0),
        ("caffe 1.0", "Tesla M40", "train", 1e6, 100.0),
    ]
    bars = [
        (row["what"], row["framework"], row["busy_ns"]) for row in section(connected(capture), "frameworks/stacked")
    ]
    assert ("lenet, Tesla K40, times.csv", "caffe 1.0", 5e5) in bars
    assert ("lenet, Tesla M40, times.csv", "caffe 0.9", 3e5) in bars
    assert [bar for bar in bars if bar[1] == "caffe 1.0" and "M40" in bar[0]] == [
        ("lenet, Tesla M40, times.csv", "caffe 1.0", 2e5),
        ("lenet, Tesla M40, times.csv", "caffe 1.0", 6e5),
        ("lenet, Tesla M40, times.csv, whole training steps", "caffe 1.0", 1e6),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("caffe,lenet,,sideways,64,1", "pass 'sideways'"),
        ("caffe,lenet,,backward,64,1", "pass 'backward' is not one of forward, gradient, train"),
        ("caffe,lenet,,forward,-1,1", "out of range"),
        (",lenet,,forward,64,1", "framework or model is empty"),
        ("caffe,lenet,,forward,64,fast", "line 2"),
        ("caffe,lenet,,forward,64,0", "line 2 holds a value that cannot be read (0 is not a time)"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "times.csv"
    file.write_text(f"framework,model,layer,pass,batch,ms\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(said)):
        published.gather([file])
