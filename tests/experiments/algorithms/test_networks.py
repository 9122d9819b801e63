"""Built-in networks: layers, shapes, parameters and FLOP as published or as arithmetic has them."""

from __future__ import annotations

import re

import pytest

from traceview.errors import UsageError
from traceview.experiments.algorithms.networks import load, names

# Parameters and multiply-accumulates of one image.
TOTALS = {
    "alexnet": (62_378_344, 1_135_256_096),
    "alexnet_grouped": (60_965_224, 724_406_816),
    "alexnet_owt": (61_100_840, 714_188_480),
    "alexnet_ucudnn": (61_838_248, None),
    "alexnet_same": (76_009_832, None),
    "alexnet_mxnet": (62_378_344, 1_131_457_664),
    "lenet": (431_080, 2_293_000),
    "simple_ann": (6_154, 6_016),
    "simple_cnn": (7_998_250, 211_535_744),
    "vgg_a": (132_863_336, 7_609_090_048),
    "googlenet": (6_998_552, None),
    "overfeat": (145_920_872, None),
    "resnet18": (11_689_512, 1_814_073_344),
    "resnet50": (25_557_032, 4_089_184_256),
}
GFLOP = {"alexnet": 2.2705, "alexnet_grouped": 1.4488, "alexnet_owt": 1.4284, "alexnet_ucudnn": 1.6776}
GFLOP |= {"alexnet_same": 2.5403, "alexnet_mxnet": 2.2629, "simple_cnn": 0.4231}


@pytest.mark.parametrize("name", TOTALS)
def test_parameters_and_flop_are_those_of_the_published_network(name: str) -> None:
    network = load(name)
    parameters, macs = TOTALS[name]
    assert network.parameters == parameters
    assert macs is None or network.flop == 2 * macs
    if name in GFLOP:
        assert round(network.flop / 1e9, 4) == GFLOP[name]


def test_the_layers_of_alexnet() -> None:
    rows = [(node.name, node.out, node.parameters, node.macs) for node in load("alexnet").nodes]
    assert rows == [
        ("conv1", (96, 55, 55), 34_944, 105_415_200),
        ("pool1", (96, 27, 27), 0, 0),
        ("conv2", (256, 27, 27), 614_656, 447_897_600),
        ("pool2", (256, 13, 13), 0, 0),
        ("conv3", (384, 13, 13), 885_120, 149_520_384),
        ("conv4", (384, 13, 13), 1_327_488, 224_280_576),
        ("conv5", (256, 13, 13), 884_992, 149_520_384),
        ("pool5", (256, 6, 6), 0, 0),
        ("fc6", (4096, 1, 1), 37_752_832, 37_748_736),
        ("fc7", (4096, 1, 1), 16_781_312, 16_777_216),
        ("fc8", (1000, 1, 1), 4_097_000, 4_096_000),
    ]


def test_the_layers_of_the_simple_networks_and_lenet() -> None:
    assert [node.parameters for node in load("simple_ann").nodes] == [1_344, 4_160, 650]
    shapes = [(node.out[1], node.parameters) for node in load("simple_cnn").nodes]
    convolutions = [(98, 896), (96, 9_248), (48, 0), (46, 18_496), (44, 36_928), (22, 0)]
    assert shapes == [*convolutions, (1, 7_930_112), (1, 2_570)]
    assert [node.parameters for node in load("lenet").nodes if node.parameters] == [520, 25_050, 400_500, 5_010]
    assert [node.out for node in load("lenet").nodes][:4] == [(20, 24, 24), (20, 12, 12), (50, 8, 8), (50, 4, 4)]


def test_the_first_layer_of_the_variants_of_alexnet() -> None:
    first = {name: load(name).convolutions()[0] for name in names() if name.startswith("alexnet")}
    assert {name: layer.out_height for name, layer in first.items()} == {
        "alexnet": 55,
        "alexnet_grouped": 55,
        "alexnet_owt": 55,
        "alexnet_ucudnn": 55,
        "alexnet_same": 56,
        "alexnet_mxnet": 54,
    }
    assert load("alexnet_same").nodes[7].out == (256, 7, 7), "fc6 has 12,544 inputs"


def test_the_channels_of_inception_add_up() -> None:
    given = {node.name: node.given[0] for node in load("inception_bn").nodes}
    assert [given[f"{block}/3x3_reduce"] for block in ("3a", "3b", "3c", "4a", "4b", "4c", "4d")] == [
        *(192, 256, 320, 576, 576, 576, 576)
    ]
    assert given["3d"] == 576
    parts = [
        node.out[0] for node in load("inception_bn").nodes if re.fullmatch("4d/(1x1|3x3|.*_b|pool_proj)", node.name)
    ]
    assert parts == [96, 192, 192, 96]


def test_every_network_has_its_source_and_a_wrong_name_the_nearest() -> None:
    for name in names():
        network = load(name)
        assert network.title and network.source and all(layer.model == name for layer in network.convolutions())
    assert len(load("resnet50").convolutions()) == 53 and len(load("googlenet").convolutions()) == 57
    with pytest.raises(UsageError, match="did you mean resnet50"):
        load("resnet5")
