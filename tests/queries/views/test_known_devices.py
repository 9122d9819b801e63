"""Which product a device is taken for where its trace does not name it, and what is never guessed."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
from given import Given, conv, pick, rows, section

from traceview.classify.rules import FOLDER

VOLTA, MAXWELL = "volta_scudnn_128x64_relu_interior_nn_v1", "maxwell_scudnn_128x64_relu_interior_nn_v1"
AMPERE, TENSILE = "ampere_sgemm_128x64_nn", "Cijk_Ailk_Bljk_SB_MT64x64x16_ISA942_IU1"


Case = tuple[tuple[str, ...], dict[str, str]]


def known(folder: Path, cases: Iterable[Case]) -> list[tuple[object, ...]]:
    """Return the known facts of the devices of a process, one for each case of recorded kernels and facts."""
    given = Given()
    for device, (kernels, facts) in enumerate(cases):
        for number, name in enumerate(kernels):
            given.kernel(name, 10 * number, 10 * number + 5, device=device)
        if facts:
            given.add("devices", device=device, kind="gpu", **facts)
    query = """SELECT k.name, product, has_tensor_cores
        FROM known_devices k JOIN device_peaks USING (rank, device) ORDER BY device"""
    return rows(given.open(folder), query)


DEVICES: list[tuple[tuple[str, ...], dict[str, str], tuple[object, ...]]] = [
    ((VOLTA, MAXWELL), {}, ("Volta or later", "Tesla V100-SXM2-16GB", True)),
    ((VOLTA, AMPERE), {}, ("Ampere or later", "NVIDIA A100-SXM4-40GB", True)),
    ((TENSILE,), {}, ("gfx942", "AMD Instinct MI300X", True)),
    ((VOLTA,), {"architecture": "8.0"}, ("Ampere", "NVIDIA A100-SXM4-40GB", True)),
    # HIP's 9.4 is no Hopper.
    ((TENSILE,), {"architecture": "9.4"}, ("gfx942", "AMD Instinct MI300X", True)),
    (("kernel",), {"name": "gfx90a"}, ("gfx90a", "AMD Instinct MI250X", True)),
    # What is named is not taken for anything else, known or not.
    ((VOLTA,), {"name": "Tesla T4"}, ("Tesla T4", "Tesla T4", True)),
    ((AMPERE,), {"name": "A GPU of 2031"}, ("A GPU of 2031", "A GPU of 2031", None)),
    # Pascal and Volta ran Maxwell's kernels: that says nothing of their rates.
    ((MAXWELL,), {}, ("Maxwell or later", None, None)),
    (("void at::native::elementwise_kernel",), {}, (None, None, None)),
]


@pytest.mark.slow
def test_what_a_device_is(tmp_path: Path) -> None:
    found = known(tmp_path, ((kernels, facts) for kernels, facts, _ in DEVICES))
    assert found == [expected for *_, expected in DEVICES]


@pytest.mark.slow
def test_every_architecture_is_told_by_its_own_examples(tmp_path: Path) -> None:
    entries = tomllib.loads((FOLDER / "devices.toml").read_text(encoding="utf-8"))["architecture"]
    examples = [(entry, example) for entry in entries for example in entry["examples"]]
    found = known(tmp_path, (((example,), {}) for _, example in examples))
    assert [row[:2] for row in found] == [
        (entry["name"] + ("" if "gfx" in entry["name"] else " or later"), entry.get("product")) for entry, _ in examples
    ]


@pytest.mark.slow
def test_a_guess_says_so_wherever_a_peak_is_shown(tmp_path: Path) -> None:
    given = Given()
    given.span("step", "0", 0, 200)
    conv(given, 0, (16, 64, 28, 28), (64, 64, 3, 3), padding=1)
    given.kernel(VOLTA, 2, 102, launched=1)
    with given.open(tmp_path) as connection:
        peak, source = rows(connection, "SELECT peak_flop_per_s, peaks_from FROM conv_costs")[0]
        # What is thought is not what was recorded.
        assert rows(connection, "FROM devices") == []
        taken = "about: the device is not named, and taken for Tesla V100-SXM2-16GB"
        assert rows(connection, "SELECT verdict FROM mfu") == [(taken,)]
        assert pick(section(connection, "roofline/peaks"), "verdict") == [(taken,)]
        (row,) = section(connection, "overview/efficiency")
        assert (row["at_least"], row["device"]) == ("about ", "fp32, dense; taken for Tesla V100-SXM2-16GB")
    assert peak == 15.7e12
    assert source.startswith(f"taken for Tesla V100-SXM2-16GB, as kernels are of Volta ({VOLTA}); --gpu names another")


@pytest.mark.slow
def test_a_device_with_another_number_is_what_all_recorded_ones_are(tmp_path: Path) -> None:
    """Kineto on AMD: the list of devices begins with 0, kernels ran on agent 2."""
    given = Given()
    given.device("AMD Instinct MI300X VF")
    given.kernel(TENSILE, 0, 5, device=2)
    query = "SELECT name, product, name_from FROM known_devices WHERE device = 2"
    named = "AMD Instinct MI300X VF"
    assert rows(given.open(tmp_path / "one"), query) == [(named, named, "recorded")]
    given.add("devices", device=1, kind="gpu", name="AMD Instinct MI210")
    assert rows(given.open(tmp_path / "two"), query)[0][:2] == ("gfx942", "AMD Instinct MI300X")
