"""Peaks come from the trace where it has them, else from a datasheet that is named, else they are unknown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from given import Given, conv, rows


def peaks(tmp_path: Path, name: str, **facts: float) -> tuple[float | None, float | None, str]:
    given = Given()
    given.device(name, **facts)
    query = "SELECT fp32_flop_per_s, memory_bytes_per_s, peaks_from FROM device_peaks"
    return rows(given.open(tmp_path), query)[0]


PRODUCTS = [
    ("Tesla V100-SXM2-32GB", 15.7, 900),
    ("NVIDIA GeForce RTX 4090 D", 73.54, 1008),
    ("NVIDIA H200 NVL", 60, 4800),
    ("Tesla V100-PCIE-16GB", 14.0, 900),
    ("NVIDIA A100-PG509-200", 19.5, 1555),
    ("NVIDIA A100-SXM4-80GB", 19.5, 2039),
    ("NVIDIA A100 80GB PCIe", 19.5, 1935),
    ("NVIDIA H100 80GB HBM3", 66.9, 3352),
    ("NVIDIA H100 PCIe", 51.2, 2039),
    ("NVIDIA H200", 66.9, 4800),
    ("NVIDIA B200", 80, 8000),
    ("NVIDIA GB200", 80, 8000),
    ("NVIDIA GH200 480GB", 66.9, 4800),
    ("NVIDIA GeForce RTX 2080 Ti", 14.23, 616),
    ("Tesla P100-PCIE-16GB", 9.526, 732),
    ("GeForce GTX 980", 4.981, 224),
    ("GeForce GTX 980 Ti", 6.054, 336.5),
    ("NVIDIA GeForce RTX 3070 Ti", 21.75, 608),
    ("NVIDIA GeForce RTX 3070", 20.31, 448),
    ("NVIDIA RTX A5000", 27.77, 768),
    ("NVIDIA GeForce RTX 3060", 12.74, 360),
    ("NVIDIA GeForce RTX 4060 Ti", 22.06, 288),
    ("NVIDIA GeForce RTX 4080", 48.74, 716.8),
    ("NVIDIA RTX 5000 Ada Generation", 65.28, 576),
    ("Tesla K40m", 5.04, 288),
    ("GeForce GTX TITAN X", 6.605, 336.5),
    ("TITAN X (Pascal)", 10.97, 480),
    ("NVIDIA GeForce GTX 1080 Ti", 11.34, 484),
    ("Tesla T4", 8.1, 320),
    ("Tesla P100-SXM2-16GB", 10.6, 732),
    ("NVIDIA GeForce RTX 3090", 35.58, 936),
    ("NVIDIA GeForce RTX 3090 Ti", 40, 1008),
    ("NVIDIA GeForce RTX 3080 Ti", 34.1, 912),
    ("NVIDIA GeForce GTX 1070 Ti", 8.186, 256),
    ("NVIDIA GeForce RTX 4090", 82.58, 1008),
    ("AMD Instinct MI250X/MI250", 23.95, 1638.4),
    ("AMD Instinct MI300X", 163.4, 5300),
]
TENSOR_CORES = [
    ("Tesla V100-SXM2-32GB", True),
    ("NVIDIA GeForce RTX 2080 Ti", True),
    ("NVIDIA L4", True),
    ("AMD Instinct MI250X", True),
    ("Tesla P100-SXM2-16GB", False),
    ("AMD Radeon Instinct MI50", False),
    ("GeForce GTX 980", False),
    ("Imaginary 9000", None),
]


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the known facts of each product, by its name: all are devices of one process."""
    given = Given()
    for number, name in enumerate(dict.fromkeys(name for name, *_ in (*PRODUCTS, *TENSOR_CORES))):
        given.device(name, device=number)
    query = "SELECT name, fp32_flop_per_s, memory_bytes_per_s, peaks_from, has_tensor_cores FROM device_peaks"
    return {name: found for name, *found in rows(given.open(tmp_path_factory.mktemp("known")), query)}


@pytest.mark.parametrize(("name", "tflop", "gigabytes"), PRODUCTS)
def test_a_product_is_known_by_its_name(name: str, tflop: float, gigabytes: float, known: Any) -> None:
    fp32, memory, source, _ = known[name]
    assert (fp32, memory) == (pytest.approx(tflop * 1e12), pytest.approx(gigabytes * 1e9))
    assert "NVIDIA" in source or "AMD" in source


@pytest.mark.parametrize(("name", "has"), TENSOR_CORES)
def test_tensor_cores_are_known_by_the_rates(name: str, has: bool | None, known: Any) -> None:
    assert known[name][3] is has


def test_what_the_trace_records_comes_first(tmp_path: Path) -> None:
    found = peaks(tmp_path, "Tesla T4", fp32_flop_per_s=7e12, memory_bytes_per_s=3e11)
    assert found == (7e12, 3e11, "the trace")


@pytest.mark.parametrize("name", ["NVIDIA GeForce RTX 3080 Ti Laptop GPU", "NVIDIA GeForce GTX 1080 with Max-Q Design"])
def test_a_laptops_product_is_not_the_desktops_of_its_name(name: str, tmp_path: Path) -> None:
    assert peaks(tmp_path, name) == (None, None, "unknown")


STRANGERS = [
    ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", {}),
    ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", {}),
    ("GRID A100D-10C", {}),
    ("GRID A100-1-5CME", {}),
    ("NVIDIA A10-4Q", {}),
    ("NVIDIA RTX A6000-48Q", {}),
    ("NVIDIA A100X", {}),
    ("NVIDIA GeForce RTX 3080 12GB", {}),
    ("NVIDIA H200 NVL", {"n_cores": 16}),
    ("Tesla P100-PCIE-12GB", {}),
    ("Tesla V100-FHHL-16GB", {}),
    ("GeForce GTX 1060 3GB", {}),
    ("Quadro K4000", {}),
    ("NVIDIA A100-SXM4-40GB", {"n_cores": 14}),
    ("AMD Instinct MI300X", {"n_cores": 38}),
    ("GeForce GTX 1070", {"n_cores": 16}),
]


def test_a_part_of_a_device_and_one_of_a_similar_name_have_not_its_rates(tmp_path: Path) -> None:
    """A slice has a seventh of the multiprocessors; an A100X is no A100."""
    given = Given()
    for number, (name, facts) in enumerate(STRANGERS):
        given.device(name, device=number, **facts)
    given.device("NVIDIA A100-SXM4-40GB", device=100, n_cores=108)
    query = "SELECT name, fp32_flop_per_s, memory_bytes_per_s FROM device_peaks ORDER BY device"
    *found, whole = rows(given.open(tmp_path), query)
    assert found == [(name, None, None) for name, _ in STRANGERS]
    assert whole == ("NVIDIA A100-SXM4-40GB", 19.5e12, 1555e9)


def test_nor_has_it_the_multiprocessors_of_the_desktops(tmp_path: Path) -> None:
    """A GTX 1070 has 15 of them, one for laptops 16."""
    for name, n_cores in (("GeForce GTX 1070", [(15,)]), ("GeForce GTX 1070 with Max-Q Design", [])):
        given = Given()
        given.device(name)
        assert rows(given.open(tmp_path / name), "SELECT n_cores FROM device_sizes") == n_cores


def test_a_stranger_is_unknown(tmp_path: Path) -> None:
    assert peaks(tmp_path, "Imaginary 9000") == (None, None, "unknown")


@pytest.mark.long
def test_kernels_on_a_device_that_is_not_listed_are_not_held_against_the_processor(tmp_path: Path) -> None:
    given = Given()
    given.add("devices", name="AMD EPYC 7763", kind="cpu", fp32_flop_per_s=1e12)
    conv(given, 0, (2, 8, 32, 32), (8, 8, 3, 3), padding=1)
    on_cpu = rows(given.open(tmp_path / "cpu"), "SELECT peak_flop_per_s FROM conv_costs")
    given.kernel("implicit_convolve_sgemm", 20, 30, launched=2)
    on_gpu = rows(given.open(tmp_path / "gpu"), "SELECT peak_flop_per_s FROM conv_costs")
    assert (on_cpu, on_gpu) == ([(1e12,)], [(None,)])


@pytest.mark.long
@pytest.mark.parametrize(("second", "peak"), [("NVIDIA A100-SXM4-40GB", 19.5e12), ("Tesla V100-SXM2-32GB", None)])
def test_a_call_on_one_of_two_unlike_devices_has_no_peak(second: str, peak: float | None, tmp_path: Path) -> None:
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    given.device(second, device=1)
    for device in (0, 1):
        at = 100 * device
        conv(given, at, (2, 8, 32, 32), (8, 8, 3, 3), padding=1)
        given.kernel("implicit_convolve_sgemm", at + 20, at + 30, launched=at + 2, device=device)
    with given.open(tmp_path) as connection:
        assert rows(connection, "SELECT peak_flop_per_s FROM conv_costs") == [(peak,), (peak,)]
        assert len(rows(connection, "FROM conv_floors")) == (2 if peak else 0)
