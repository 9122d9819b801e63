-- title = "nsys stats CSV: rows of a trace with their times and sizes as integers"
-- doc = "The unit of a column stands in the header. K, M and G are powers of 1000, Ki, Mi and Gi of 1024."
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- devices = { type = "VARCHAR[]", doc = "names of the devices in order of appearance" }
WITH typed AS MATERIALIZED (
    SELECT "row", name, cell[h.device] AS device_name,
        list_transform([[cell[h.start], h.start_unit], [cell[h.duration], h.duration_unit]], lambda x:
            TRY_CAST(round(TRY_CAST(x[1] AS DECIMAL(27, 9)) * CASE x[2]
                WHEN 'ns' THEN 1::DECIMAL(10, 0) WHEN 'us' THEN 1000 WHEN 'ms' THEN 1000000 WHEN 's' THEN 1000000000
            END) AS BIGINT)) AS ns,
        list_transform([[cell[h.size], h.size_unit], [cell[h.static_memory], h.static_memory_unit],
                [cell[h.dynamic_memory], h.dynamic_memory_unit]], lambda x:
            TRY_CAST(round(TRY_CAST(x[1] AS DECIMAL(27, 9)) * CASE x[2]
                WHEN 'KB' THEN 1000::DECIMAL(10, 0) WHEN 'MB' THEN 1000000 WHEN 'GB' THEN 1000000000
                WHEN 'KiB' THEN 1024 WHEN 'MiB' THEN 1048576 WHEN 'GiB' THEN 1073741824 ELSE 1
            END) AS BIGINT)) AS bytes,
        -- Not the header itself: it would be copied for every row.
        cell[h.block_x] AS block_x_cell, cell[h.block_y] AS block_y_cell, cell[h.block_z] AS block_z_cell,
        cell[h.context] AS context_cell, cell[h.correlation] AS correlation_cell, cell[h.grid_x] AS grid_x_cell,
        cell[h.grid_y] AS grid_y_cell, cell[h.grid_z] AS grid_z_cell, cell[h.pid] AS pid_cell,
        cell[h.registers] AS registers_cell, cell[h.source_memory] AS source_memory_cell,
        cell[h.stream] AS stream_cell, cell[h.target_memory] AS target_memory_cell, cell[h.tid] AS tid_cell
    FROM cells, header
)
SELECT $first + "row" AS id, name, ns[1] AS start_ns, ns[2] AS dur_ns,
    TRY_CAST(correlation_cell AS BIGINT) AS correlation,
    TRY_CAST(pid_cell AS BIGINT) AS pid, TRY_CAST(tid_cell AS BIGINT) AS tid,
    coalesce(TRY_CAST(regexp_extract(device_name, '\((\d+)\)$', 1) AS BIGINT),
        list_position($devices, device_name) - 1) AS device,
    TRY_CAST(context_cell AS BIGINT) AS context, TRY_CAST(stream_cell AS BIGINT) AS stream,
    TRY_CAST(grid_x_cell AS BIGINT) AS grid_x, TRY_CAST(grid_y_cell AS BIGINT) AS grid_y,
    TRY_CAST(grid_z_cell AS BIGINT) AS grid_z, TRY_CAST(block_x_cell AS BIGINT) AS block_x,
    TRY_CAST(block_y_cell AS BIGINT) AS block_y, TRY_CAST(block_z_cell AS BIGINT) AS block_z,
    TRY_CAST(registers_cell AS BIGINT) AS registers, bytes[2] + bytes[3] AS shared_bytes, bytes[1] AS size_bytes,
    list_transform([source_memory_cell, target_memory_cell], lambda x:
        CASE WHEN x ILIKE 'managed%' THEN 'managed' WHEN x ILIKE 'device%' THEN 'device'
            WHEN x ILIKE 'unknown%' THEN NULL
            ELSE lower(x) END) AS memory,
    name ILIKE '[CUDA%mem%' AS is_copy
FROM typed
WHERE ns[1] IS NOT NULL AND ns[2] IS NOT NULL AND name <> ''
