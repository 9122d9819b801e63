"""Which product a device is taken for where its trace does not name it, and what is never guessed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from given import Given, conv, rows

from traceview.classify.rules import FOLDER

VOLTA, MAXWELL = "volta_scudnn_128x64_relu_interior_nn_v1", "maxwell_scudnn_128x64_relu_interior_nn_v1"
AMPERE, TENSILE = "ampere_sgemm_128x64_nn", "Cijk_Ailk_Bljk_SB_MT64x64x16_ISA942_IU1"


def known(tmp_path: Path, *kernels: str, **device: object) -> list[tuple[object, ...]]:
    given = Given()
    for number, name in enumerate(kernels):
        given.kernel(name, 10 * number, 10 * number + 5)
    if device:
        given.add("devices", device=0, kind="gpu", **device)
    query = "SELECT k.name, product, has_tensor_cores FROM known_devices k JOIN device_peaks USING (rank, device)"
    return rows(given.open(tmp_path), query)


@pytest.mark.parametrize(
    ("kernels", "device", "expected"),
    [
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
    ],
)
def test_what_a_device_is(
    tmp_path: Path, kernels: tuple[str, ...], device: dict[str, str], expected: tuple[object, ...]
) -> None:
    assert known(tmp_path, *kernels, **device) == [expected]


def test_every_architecture_is_told_by_its_own_examples(tmp_path: Path) -> None:
    for entry in tomllib.loads((FOLDER / "devices.toml").read_text(encoding="utf-8"))["architecture"]:
        for number, example in enumerate(entry["examples"]):
            found = known(tmp_path / f"{entry['name']}-{number}", example)
            assert found[0][:2] == (
                entry["name"] + ("" if "gfx" in entry["name"] else " or later"),
                entry.get("product"),
            )


def test_a_guess_says_so_wherever_a_peak_is_shown(tmp_path: Path) -> None:
    given = Given()
    conv(given, 0, (16, 64, 28, 28), (64, 64, 3, 3), padding=1)
    given.kernel(VOLTA, 2, 8, launched=1)
    with given.open(tmp_path) as connection:
        peak, source = rows(connection, "SELECT peak_flop_per_s, peaks_from FROM conv_costs")[0]
        # What is thought is not what was recorded.
        assert rows(connection, "FROM devices") == []
    assert peak == 15.7e12
    assert source.startswith(
        f"taken for Tesla V100-SXM2-16GB, as kernels are of Volta ({VOLTA}); --device names another"
    )
