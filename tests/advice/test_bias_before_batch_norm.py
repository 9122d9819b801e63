"""A bias before a batch normalisation: whether that follows, and how long the addition takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from advised import answer, training
from given import Given, conv, conv_backward

pytestmark = pytest.mark.slow

RULE = "bias_before_batch_norm"

SHAPE, FILTER = (2, 8, 32, 32), (8, 8, 3, 3)


def steps(bias_us: float, after: str = "aten::batch_norm") -> Given:
    given = training()
    for start in (0, 1000, 2000):
        conv(given, start + 10, SHAPE, FILTER, padding=1)
        given.kernel("void implicit_convolve_sgemm<float>(int)", start + 30, start + 80, launched=start + 12)
        given.kernel("void elementwise_kernel<CUDAFunctor_add<float>>", start + 80, start + 80 + bias_us, start + 14)
        given.op(after, start + 100, start + 110)
        given.kernel("void batch_norm_collect_statistics_kernel<float>", start + 120, start + 130, launched=start + 101)
        conv_backward(given, start + 200, SHAPE, FILTER, SHAPE, padding=1)
        given.kernel("void cudnn::cnn::wgrad_alg0_engine<float>(int)", start + 230, start + 250, launched=start + 201)
        given.kernel("void reduce_kernel<512>", start + 250, start + 252, launched=start + 202)
    return given


def test_addition_and_gradient_are_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(5), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 7_000)
    assert found.problem == "1 layer adds a bias that the next batch normalisation removes again."


def test_fixed_statistics_do_not_follow_the_bias(tmp_path: Path) -> None:
    for is_training, level in (("True", "high"), ("False", "medium")):
        given = steps(5)
        for row in given.rows["ops"]:
            if row["name"] == "aten::batch_norm":
                row["inputs"] = json.dumps(["", "", "", "", "", is_training, "0.1", "1e-05", "True"])
        found = answer(RULE, given, tmp_path / is_training)
        assert (found.saving_ns, found.confidence.split(":")[0]) == (7_000, level)
        assert ("removes again" in found.problem) == (is_training == "True")


def test_below_the_threshold_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(2.9), tmp_path).status == "not found"


@pytest.mark.long
def test_before_anything_else_it_is_not(tmp_path: Path) -> None:
    given = steps(5)
    for start in (0, 1000, 2000):
        given.op("aten::relu", start + 85, start + 90)
        given.kernel("vectorized_elementwise_kernel<4>", start + 90, start + 95, launched=start + 86)
    assert answer(RULE, given, tmp_path).status == "not found"


def test_the_next_convolution_comes_before_its_normalisation(tmp_path: Path) -> None:
    """In a chain only the last bias goes; one of another size, as of a gate, is not the normalised branch's."""
    given = training()
    for start in (0, 1000, 2000):
        for number, filters in enumerate((16, 8, 1)):
            at, channels = start + 100 * number, 16 if filters == 8 else 8
            conv(given, at, (2, channels, 32, 32), (filters, channels, 3, 3), padding=1)
            given.kernel("void implicit_convolve_sgemm<float>(int)", at + 20, at + 50, launched=at + 2)
            given.kernel("void elementwise_kernel<CUDAFunctor_add<float>>", at + 50, at + 60, launched=at + 4)
            if filters != 16:
                given.op("aten::batch_norm", at + 70, at + 80, [(2, 8, 32, 32)])
                given.kernel("void batch_norm_collect_statistics_kernel<float>", at + 85, at + 95, launched=at + 71)
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns) == ("found", 10_000)
    assert found.evidence == ("conv2 8x16x3x3 (guessed): 0.010 ms",)


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == (
        "cannot tell",
        "no operator or kernel of a convolution was recognised in this trace.",
    )
