"""Varints as the page's script and protobuf read them."""

from __future__ import annotations

import numpy as np

from traceview.render.page.varints import varints


def test_groups_of_seven_bits_the_lowest_first() -> None:
    assert varints(np.array([0, 1, 127, 128, 300, 2**40])).text().hex(" ") == "00 01 7f 80 01 ac 02 80 80 80 80 80 20"


def test_lengths_are_of_each_row() -> None:
    assert varints(np.array([0, 128, 2**40])).lengths().tolist() == [1, 2, 6]
