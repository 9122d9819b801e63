-- title = "XPlane: kernels"
-- doc = """Events of a device's streams that are not copies. NVIDIA writes `regs:17 shm:0 grid:1,1,1 block:1024,1,1`,
-- AMD `grid:.. block:.. group_mem:..`."""
SELECT
    id, start_ns, dur_ns, device, name, correlation, op AS recorded_op, hlo_op, hlo_module, program AS hlo_program,
    TRY_CAST(context AS BIGINT) AS context,
    coalesce(TRY_CAST(regexp_extract(line_name, '^Stream #(\d+)', 1) AS BIGINT), line_id) AS stream,
    TRY_CAST(regexp_extract(kernel_details, 'grid:(\d+),(\d+),(\d+)', 1) AS BIGINT) AS grid_x,
    TRY_CAST(regexp_extract(kernel_details, 'grid:(\d+),(\d+),(\d+)', 2) AS BIGINT) AS grid_y,
    TRY_CAST(regexp_extract(kernel_details, 'grid:(\d+),(\d+),(\d+)', 3) AS BIGINT) AS grid_z,
    TRY_CAST(regexp_extract(kernel_details, 'block:(\d+),(\d+),(\d+)', 1) AS BIGINT) AS block_x,
    TRY_CAST(regexp_extract(kernel_details, 'block:(\d+),(\d+),(\d+)', 2) AS BIGINT) AS block_y,
    TRY_CAST(regexp_extract(kernel_details, 'block:(\d+),(\d+),(\d+)', 3) AS BIGINT) AS block_z,
    TRY_CAST(regexp_extract(kernel_details, 'regs:(\d+)', 1) AS BIGINT) AS registers,
    coalesce(TRY_CAST(regexp_extract(kernel_details, '(?:shm|group_mem):(\d+)', 1) AS BIGINT),
        TRY_CAST(regexp_extract(kernel_details, 'static_shared:(\d+)', 1) AS BIGINT)
        + TRY_CAST(regexp_extract(kernel_details, 'dynamic_shared:(\d+)', 1) AS BIGINT)) AS shared_bytes,
    nullif(TRY_CAST(regexp_extract(kernel_details, 'occ_pct:([\d.]+)', 1) AS DOUBLE), 0) AS occupancy_pct
FROM placed WHERE goes = 'kernels'
