"""Matrix products: which are a layer's forward pass, and so its parameters."""

from __future__ import annotations

from pathlib import Path

import pytest
from compared import measured
from given import Given, rows


def linear() -> Given:
    """One fully connected layer and both products of its gradient, as PyTorch without sequence numbers records them."""
    given = Given()
    given.op("aten::addmm", 0, 10, [(1000,), (32, 2048), (2048, 1000)])
    given.op("AddmmBackward", 100, 140, [(32, 1000)])
    given.op("aten::mm", 101, 110, [(32, 1000), (1000, 2048)])
    given.op("aten::mm", 120, 130, [(2048, 32), (32, 1000)])
    return given


def test_products_inside_a_gradient_are_backward(tmp_path: Path) -> None:
    query = "SELECT name, is_backward, parameters FROM matmul_shapes ORDER BY op_id"
    assert rows(linear().open(tmp_path), query) == [
        ("aten::addmm", False, 2_049_000),
        ("aten::mm", True, 2_048_000),
        ("aten::mm", True, 32_000),
    ]


@pytest.mark.slow
def test_a_layer_counts_its_parameters_once(tmp_path: Path) -> None:
    assert measured(linear(), tmp_path).value("parameters") == 2048 * 1000 + 1000
