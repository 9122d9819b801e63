"""Caffe's net definitions: layers with the shapes that follow from the input, and what is not such a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from traceview.errors import InputError
from traceview.experiments.algorithms.networks import load
from traceview.experiments.algorithms.sources import of_model

HEAD = 'name: "A" # a net\ninput: "data"\ninput_shape { dim: 10 dim: 3 dim: 227 dim: 227 }\n'


def conv(name: str, bottom: str, said: str) -> str:
    return (
        f'layer {{ name: "{name}" type: "Convolution" bottom: "{bottom}" top: "{name}" param {{ lr_mult: 1 }}\n'
        f"  convolution_param {{ {said} weight_filler {{ type: 'gaussian' std: 0.01 }} }} }}\n"
    )


def plain(name: str, kind: str, bottom: str, top: str, said: str = "") -> str:
    return f'layer {{ name: "{name}" type: "{kind}" bottom: "{bottom}" top: "{top}" {said} }}\n'


POOL = "pooling_param { pool: MAX kernel_size: 3 stride: 2 }"
GROUPED = (
    HEAD
    + conv("conv1", "data", "num_output: 96 kernel_size: 11 stride: 4")
    + plain("relu1", "ReLU", "conv1", "conv1")
    + plain("norm1", "LRN", "conv1", "norm1", "lrn_param { local_size: 5 }")
    + plain("pool1", "Pooling", "norm1", "pool1", POOL)
    + conv("conv2", "pool1", "num_output: 256 pad: 2 kernel_size: 5 group: 2")
    + plain("pool2", "Pooling", "conv2", "pool2", POOL)
    + conv("conv3", "pool2", "num_output: 384 pad: 1 kernel_size: 3")
    + conv("conv4", "conv3", "num_output: 384 pad: 1 kernel_size: 3 group: 2")
    + conv("conv5", "conv4", "num_output: 256 pad_h: 1 pad_w: 1 kernel_h: 3 kernel_w: 3 group: 2")
)


def read(tmp_path: Path, text: str) -> tuple[list[dict[str, object]], list[str]]:
    file, said = tmp_path / "net.prototxt", list[str]()
    file.write_text(text)
    return [layer.facts() for layer in of_model(str(file), "python", (3, 8, 8), said.append)], said


def test_a_net_definition_has_the_layers_of_the_network(tmp_path: Path) -> None:
    found, said = read(tmp_path, GROUPED)
    expected = [layer.facts() for layer in load("alexnet_grouped").convolutions()]
    assert [{**row, "model": "alexnet_grouped"} for row in found] == expected and said == []


def test_branches_meet_and_what_is_unknown_is_counted(tmp_path: Path) -> None:
    text = (
        'layer { name: "d" type: "Data" top: "data" top: "label" transform_param { crop_size: 20 } }\n'
        + conv("a", "data", "num_output: 4 kernel_size: 3 pad: 1")
        + conv("b", "data", "num_output: 6 kernel_size: 1")
        + 'layer { name: "c" type: "Concat" bottom: "a" bottom: "b" top: "c" }\n'
        + conv("e", "c", "num_output: 5 kernel_size: 3 dilation: 2")
        + plain("odd", "Python", "e", "odd")
        + conv("lost", "odd", "num_output: 5 kernel_size: 3")
        + plain("up", "Deconvolution", "c", "up", "convolution_param { num_output: 2 kernel_size: 2 }")
    )
    found, said = read(tmp_path, text)
    assert [(row["layer"], row["in_channels"], row["height"], row["dilation_h"]) for row in found] == [
        ("a", 3, 20, 1),
        ("b", 3, 20, 1),
        ("e", 10, 20, 2),
    ]
    assert said == ["2 convolutions left out: transposed, not of two dimensions, or of unknown shape."]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("layer {", "no convolution that can be measured"),
        ("", "no convolution that can be measured"),
        ("\x00\x01", "not a Caffe net definition"),
        ("layer = 3", "not a Caffe net definition"),
        ("a {" * 100, "not a Caffe net definition"),
        (HEAD + 'layers { name: "conv1" type: CONVOLUTION }', "Caffe's old format"),
        (HEAD + conv("c", "data", "num_output: 99999999999 kernel_size: 3"), "no convolution that can be measured"),
        (HEAD + conv("c", "data", "num_output: 8 kernel_size: 3 group: 0 stride: 0"), "no convolution that can be"),
    ],
)
def test_what_is_no_net_definition_is_said(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(tmp_path, text)


def test_pooling_rounds_up_and_not_beyond_the_padding(tmp_path: Path) -> None:
    text = HEAD.replace("227", "7") + plain(
        "p", "Pooling", "data", "p", "pooling_param { kernel_size: 2 stride: 2 pad: 1 }"
    )
    found, _ = read(tmp_path, text + conv("c", "p", "num_output: 2 kernel_size: 3"))
    assert found[0]["height"] == 4
