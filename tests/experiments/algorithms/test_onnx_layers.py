"""ONNX files: the shapes are those that ONNX infers; without the package a sentence says what to install."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from traceview.errors import InputError, UsageError
from traceview.experiments.algorithms.sources import of_model


def test_without_onnx_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(UsageError, match=r"pip install 'traceview\[models\]'"):
        of_model(str(tmp_path / "net.onnx"), "python", (3, 8, 8), print)


def test_the_layers_of_a_graph(tmp_path: Path) -> None:
    from onnx import TensorProto, helper, save

    filters = [
        helper.make_tensor(name, TensorProto.FLOAT, dims, b"\0" * size, raw=True)
        for name, dims, size in (
            ("w1", [8, 3, 5, 3], 8 * 3 * 15 * 4),
            ("w2", [4, 4, 3, 3], 4 * 4 * 9 * 4),
            ("w3", [4, 8, 3, 3], 4 * 8 * 9 * 4),
        )
    ]
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["a"], name="first", strides=[2, 1], pads=[2, 1, 2, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "w2"], ["c"], group=2, dilations=[2, 2]),
        helper.make_node("Conv", ["b", "w3"], ["d"], name="uneven", pads=[0, 0, 1, 1]),
        helper.make_node("Conv", ["b", "w3"], ["e"], name="same", auto_pad="SAME_UPPER"),
    ]
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 20, 16])
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "cde"]
    model = helper.make_model(helper.make_graph(nodes, "net", [given], results, filters))
    save(model, tmp_path / "net.onnx")
    said: list[str] = []
    first, second, same = of_model(str(tmp_path / "net.onnx"), "python", (3, 8, 8), said.append)
    assert (first.name, first.stride_h, first.stride_w, first.pad_h, first.pad_w) == ("first", 2, 1, 2, 1)
    assert (second.name, second.groups, second.dilation_h, second.height, second.width) == ("c", 2, 2, 10, 16)
    assert (same.name, same.pad_h, same.in_channels) == ("same", 1, 8)
    assert said == ["1 convolution left out: transposed, not of two dimensions, or of unknown shape."]


def test_what_is_no_model_is_said(tmp_path: Path) -> None:
    (tmp_path / "net.onnx").write_bytes(b"\xff\xfe nothing")
    for name, said in (("net.onnx", "is not an ONNX model"), ("absent.onnx", "does not exist")):
        with pytest.raises(InputError, match=said):
            of_model(str(tmp_path / name), "python", (3, 8, 8), print)
