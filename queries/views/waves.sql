-- doc = """Kernels of products and convolutions, and how many of their blocks a multiprocessor holds at once, as its
-- registers, shared memory, warps and places for blocks allow (classify/devices.toml): NVIDIA's devices whose compute
-- capability, kernels' grids, registers and shared memory are recorded. All of them together hold one wave. Whether a
-- kernel's blocks stay and take one tile after the other (persistent), or start in clusters, is known by name only:
-- then the waves are NULL."""
-- empty_without = ["raw.kernels"]
-- types = """id BIGINT, rank INTEGER, n_cores BIGINT, blocks BIGINT, resident BIGINT, waves BIGINT,
-- in_last BIGINT"""
-- [columns]
-- id = "the kernel"
-- n_cores = "multiprocessors"
-- blocks = "blocks of its grid"
-- resident = "blocks that a multiprocessor holds at once"
-- waves = "times that all multiprocessors are filled, the last one perhaps in part"
-- in_last = "blocks of the last wave"
WITH launch AS (
    SELECT k.id, k.rank, d.n_cores, c.* EXCLUDE (position, name), TRY(k.grid_x * k.grid_y * k.grid_z) AS grid,
        TRY((k.block_x * k.block_y * k.block_z + 31) // 32) AS warps_each,
        256 * ((32 * k.registers + 255) // 256) AS registers_each,
        regexp_matches(k.name, '(?i)sm(90|1[0-9]{2})|nvjet|persistent|stream_?k|cluster') AS is_persistent,
        c.shared_unit * ((k.shared_bytes + c.shared_reserved + c.shared_unit - 1) // c.shared_unit) AS shared_each
    FROM kernels k
    JOIN raw.devices r ON r.rank = k.rank AND r.device = k.device
    JOIN device_sizes d ON d.rank = k.rank AND d.device = k.device
    JOIN names.capability c ON c.name = r.architecture
    WHERE k.category IN ('gemm', 'conv') AND coalesce(k.role, 'main') = 'main' AND k.registers > 0
        AND k.shared_bytes IS NOT NULL AND NOT regexp_matches(coalesce(r.name, ''), 'AMD|Instinct|Radeon')
), held AS (
    SELECT id, rank, n_cores, is_persistent, grid, least(blocks, warps // warps_each,
        schedulers * (registers // schedulers // registers_each) // warps_each,
        coalesce(shared_bytes // nullif(shared_each, 0), blocks)) AS resident
    FROM launch WHERE warps_each > 0
)
SELECT id, rank, n_cores, CAST(grid AS BIGINT) AS blocks, resident,
    if(is_persistent, NULL, CAST(ceil(1.0 * grid / (n_cores * resident)) AS BIGINT)) AS waves,
    if(is_persistent, NULL, CAST((grid - 1) % (n_cores * resident) + 1 AS BIGINT)) AS in_last
FROM held WHERE resident > 0 AND grid > 0
