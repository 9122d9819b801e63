"""A copy as large as the input that goes to the host in every step."""

from __future__ import annotations

from pathlib import Path

from advised import answer, training
from given import Given, conv, conv_backward

RULE = "input_gradient_copied"
DGRAD = "void cudnn::cnn::dgrad_engine<float>(int)"
IMAGE, FILTER = (2, 3, 32, 32), (3, 3, 3, 3)


def steps(back_bytes: int) -> Given:
    given = training()
    for start in (0, 1000, 2000):
        given.copy("HtoD", start + 1, start + 5, launched=start, size_bytes=100_000)
        conv(given, start + 10, IMAGE, FILTER, padding=1)
        given.kernel("implicit_convolve_sgemm", start + 15, start + 18, launched=start + 12)
        conv_backward(given, start + 40, IMAGE, FILTER, IMAGE, padding=1)
        given.kernel(DGRAD, start + 45, start + 55, launched=start + 41)
        given.copy("DtoH", start + 60, start + 67, launched=start + 55, size_bytes=back_bytes)
    return given


def test_a_copy_of_the_inputs_size_is_found_with_the_gradient_before_it(tmp_path: Path) -> None:
    found = answer(RULE, steps(100_000), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 17_000)
    assert found.evidence == (f"{DGRAD}: 0.010 ms", "DtoH copy of 100000 bytes: 0.007 ms")


def test_a_copy_of_another_size_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(99_000), tmp_path).status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace holds no copy whose size is recorded.")
