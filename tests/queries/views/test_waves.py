"""Blocks that a core holds at once, and how often a grid fills all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from given import Given, rows

GEMM = "volta_sgemm_128x64_nn"


def given(name: str = GEMM, capability: str = "8.0", **facts: Any) -> Given:
    launch = {"grid_x": 120, "grid_y": 2, "grid_z": 1, "block_x": 128, "block_y": 1, "block_z": 1}
    made = Given()
    made.device("NVIDIA", architecture=capability, n_cores=100, max_threads_per_core=2048)
    made.kernel(name, 0, 100, **{**launch, "registers": 128, "shared_bytes": 0, **facts})
    return made


@pytest.mark.slow
@pytest.mark.parametrize(
    ("capability", "facts", "resident"),
    [
        # 128 threads are four warps of 128 x 32 = 4,096 registers: 16,384 // 4,096 in each of four parts, 16 // 4.
        ("7.0", {}, 4),
        # 86 x 32 = 2,752 registers take eleven units of 256, and 16,384 hold five of that: 20 warps, five blocks.
        ("7.0", {"registers": 86}, 5),
        # Shared memory: 98,304 // 32,768; then 167,936 // (32,768 + 1,024), and 102,400 // the same.
        ("7.0", {"registers": 32, "shared_bytes": 32_768}, 3),
        ("8.0", {"registers": 32, "shared_bytes": 32_768}, 4),
        ("8.6", {"registers": 32, "shared_bytes": 32_768}, 3),
        # One warp each: places for blocks are the limit; 1,024 threads each: warps are.
        ("8.0", {"registers": 16, "block_x": 32}, 32),
        ("8.6", {"registers": 16, "block_x": 32}, 16),
        ("7.5", {"registers": 16, "block_x": 1024}, 1),
        ("9.0", {"registers": 16, "block_x": 1024}, 2),
    ],
)  # fmt: skip
def test_a_core_holds_what_its_scarcest_part_allows(
    capability: str, facts: dict[str, Any], resident: int, tmp_path: Path
) -> None:
    with given(capability=capability, **facts).open(tmp_path) as connection:
        assert rows(connection, "SELECT resident FROM waves") == [(resident,)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("grid", "waves", "in_last"), [(1, 1, 1), (399, 1, 399), (400, 1, 400), (401, 2, 1), (1640, 5, 40)]
)
def test_waves_of_a_device_that_holds_400_blocks(grid: int, waves: int, in_last: int, tmp_path: Path) -> None:
    with given(grid_x=grid, grid_y=1).open(tmp_path) as connection:
        assert rows(connection, "SELECT blocks, waves, in_last FROM waves") == [(grid, waves, in_last)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT",
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_kernel_execute_segment",
        "matmul_kernel_persistent_gemm",
    ],
)
def test_kernels_whose_blocks_take_several_tiles_have_no_waves(name: str, tmp_path: Path) -> None:
    with given(name, "9.0").open(tmp_path) as connection:
        assert rows(connection, "SELECT waves, in_last FROM waves") in ([(None, None)], [])


@pytest.mark.slow
@pytest.mark.parametrize(
    "facts",
    [
        {"registers": None},
        {"shared_bytes": None},
        {"grid_x": None},
        {"name": "vectorized_elementwise_kernel"},
        {"capability": "9.4"},
        {"registers": 255, "block_x": 1024},
    ],
    ids=["registers", "shared", "grid", "no product", "another vendor", "none fits"],
)
def test_where_it_cannot_be_told_there_is_no_row(facts: dict[str, Any], tmp_path: Path) -> None:
    with given(**facts).open(tmp_path) as connection:
        assert rows(connection, "SELECT * FROM waves") == []


@pytest.mark.slow
def test_an_amd_device_of_the_same_number_is_none_of_nvidias(tmp_path: Path) -> None:
    made = Given()
    made.device("AMD Instinct MI250X", architecture="9.0", n_cores=104, max_threads_per_core=2048)
    grid = {"grid_x": 900, "grid_y": 1, "grid_z": 1, "block_x": 256, "block_y": 1, "block_z": 1}
    made.kernel("Cijk_Ailk_Bljk_SB_MT64x64x16", 0, 100, **grid, registers=64, shared_bytes=1024)
    with made.open(tmp_path) as connection:
        assert rows(connection, "SELECT * FROM waves") == []


OCCUPANCY = """
SELECT count(*), max(abs(100.0 * least(1.0 * w.blocks / w.n_cores, w.resident)
    * ((k.block_x * k.block_y * k.block_z + 31) // 32) / c.warps - k.occupancy_pct))
FROM waves w JOIN raw.kernels k ON k.id = w.id JOIN raw.devices d ON d.rank = k.rank AND d.device = k.device
JOIN names.capability c ON c.name = d.architecture WHERE k.occupancy_pct > 0"""


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(
    ("trace", "kernels"),
    [
        ("operators/h100-bert-forward.json.gz", 17),
        ("operators/h100-timesformer-forward.json.gz", 49),
        pytest.param("kineto/a100-convnet-train-nccl.json.gz", 108, marks=pytest.mark.long),
        pytest.param("kineto/v100-convnet-train-ns.json.gz", 805, marks=pytest.mark.long),
        pytest.param("kineto/v100-dlrm-train-nccl.json.gz", 2625, marks=pytest.mark.long),
    ],
)
def test_cuptis_occupancy_agrees(trace: str, kernels: int, shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    """CUPTI computes it of the same facts, in whole percent; it writes 0 where a block's shared memory was raised."""
    (found,) = rows(captures.open(shared / "traces" / trace), OCCUPANCY)
    assert found == (kernels, pytest.approx(0, abs=0.51))
