"""Facts of where a capture ran: the framework's name, the kind of device and its model."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given

from traceview.analysis import ran_on
from traceview.store.learned import Place


def on(folder: Path, given: Given) -> Place:
    with given.open(folder) as connection:
        return ran_on.of(connection)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ("void at::native::reduce_kernel<512, 1>(int)", Place("pytorch", "gpu", "pytorch", "NVIDIA H200")),
        ("sgemm", Place(None, "gpu", "", "NVIDIA H200")),
    ],
)
def test_a_trace_of_a_gpu_is_told_by_its_kernels(tmp_path: Path, kernel: str, expected: Place) -> None:
    given = Given()
    given.device("NVIDIA H200", kind="gpu")
    given.kernel(kernel, 0, 10)
    assert on(tmp_path, given) == expected


def test_nothing_recorded_is_a_cpu_of_no_framework(tmp_path: Path) -> None:
    assert on(tmp_path, Given()) == Place(None, "cpu")
