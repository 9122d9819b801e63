-- title = "nsys stats CSV: rows of a trace with their times and sizes as integers"
-- doc = "The unit of a column stands in the header. K, M and G are powers of 1000, Ki, Mi and Gi of 1024."
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- devices = { type = "VARCHAR[]", doc = "names of the devices in order of appearance" }
WITH typed AS (
    SELECT "row", cell, h, name, cell[h.device] AS device_name,
        list_transform([[cell[h.start], h.start_unit], [cell[h.duration], h.duration_unit]], lambda x:
            TRY_CAST(round(TRY_CAST(x[1] AS DECIMAL(27, 9)) * CASE x[2]
                WHEN 'ns' THEN 1::DECIMAL(10, 0) WHEN 'us' THEN 1000 WHEN 'ms' THEN 1000000 WHEN 's' THEN 1000000000
            END) AS BIGINT)) AS ns,
        list_transform([[cell[h.size], h.size_unit], [cell[h.static_memory], h.static_memory_unit],
                [cell[h.dynamic_memory], h.dynamic_memory_unit]], lambda x:
            TRY_CAST(round(TRY_CAST(x[1] AS DECIMAL(27, 9)) * CASE x[2]
                WHEN 'KB' THEN 1000::DECIMAL(10, 0) WHEN 'MB' THEN 1000000 WHEN 'GB' THEN 1000000000
                WHEN 'KiB' THEN 1024 WHEN 'MiB' THEN 1048576 WHEN 'GiB' THEN 1073741824 ELSE 1
            END) AS BIGINT)) AS bytes
    FROM cells, header
)
SELECT $first + "row" AS id, name, ns[1] AS start_ns, CASE WHEN ns[2] < 0 THEN 0 ELSE ns[2] END AS dur_ns,
    TRY_CAST(cell[h.correlation] AS BIGINT) AS correlation,
    TRY_CAST(cell[h.pid] AS BIGINT) AS pid, TRY_CAST(cell[h.tid] AS BIGINT) AS tid,
    coalesce(TRY_CAST(regexp_extract(device_name, '\((\d+)\)$', 1) AS BIGINT),
        list_position($devices, device_name) - 1) AS device,
    TRY_CAST(cell[h.context] AS BIGINT) AS context, TRY_CAST(cell[h.stream] AS BIGINT) AS stream,
    TRY_CAST(cell[h.grid_x] AS BIGINT) AS grid_x, TRY_CAST(cell[h.grid_y] AS BIGINT) AS grid_y,
    TRY_CAST(cell[h.grid_z] AS BIGINT) AS grid_z, TRY_CAST(cell[h.block_x] AS BIGINT) AS block_x,
    TRY_CAST(cell[h.block_y] AS BIGINT) AS block_y, TRY_CAST(cell[h.block_z] AS BIGINT) AS block_z,
    TRY_CAST(cell[h.registers] AS BIGINT) AS registers, bytes[2] + bytes[3] AS shared_bytes, bytes[1] AS size_bytes,
    list_transform([cell[h.source_memory], cell[h.target_memory]], lambda x:
        CASE WHEN x ILIKE 'managed%' THEN 'managed' WHEN x ILIKE 'device%' THEN 'device' WHEN x ILIKE 'unknown%' THEN NULL
            ELSE lower(x) END) AS memory,
    name ILIKE '[CUDA%mem%' AS is_copy
FROM typed
WHERE ns[1] IS NOT NULL AND ns[2] IS NOT NULL AND name <> ''
