-- title = "nvprof text: rows of a trace with their times and sizes as integers"
-- doc = """Each value of a text row carries its own unit; in CSV a row under the header names it. K, M and G are powers
-- of 1024 here."""
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- devices = { type = "VARCHAR[]", doc = "names of the devices in order of appearance" }
WITH typed AS MATERIALIZED (
    SELECT "row",
        trim(regexp_replace(name, '\s*\[\d+\]$', '')) AS name,
        coalesce(TRY_CAST(cell[h.correlation] AS BIGINT),
            TRY_CAST(regexp_extract(name, '\[(\d+)\]\)?$', 1) AS BIGINT)) AS correlation,
        cell[h.device] AS device_name,
        list_transform([[cell[h.start], h.start_unit], [cell[h.duration], h.duration_unit]], lambda x:
            TRY_CAST(round(TRY_CAST(regexp_extract(x[1], '^[-+.\deE]+') AS DECIMAL(27, 9))
                * CASE coalesce(nullif(regexp_extract(x[1], '[a-z]+$'), ''), x[2])
                    WHEN 'ns' THEN 1::DECIMAL(10, 0) WHEN 'us' THEN 1000 WHEN 'ms' THEN 1000000 WHEN 's' THEN 1000000000
                END) AS BIGINT)) AS ns,
        list_transform([[cell[h.size], h.size_unit], [cell[h.static_memory], h.static_memory_unit],
                [cell[h.dynamic_memory], h.dynamic_memory_unit], [cell[h.unified], h.unified_unit]], lambda x:
            TRY_CAST(round(TRY_CAST(regexp_extract(x[1], '^[-+.\deE]+') AS DECIMAL(27, 9))
                * CASE coalesce(nullif(regexp_extract(x[1], '[A-Z]+$'), ''), x[2])
                    WHEN 'B' THEN 1::DECIMAL(10, 0) WHEN 'KB' THEN 1024 WHEN 'MB' THEN 1048576 WHEN 'GB' THEN 1073741824
                END) AS BIGINT)) AS bytes,
        CASE WHEN h.grid_y IS NULL THEN regexp_extract_all(cell[h.grid_x], '\d+')
            ELSE [cell[h.grid_x], cell[h.grid_y], cell[h.grid_z]] END AS grid,
        CASE WHEN h.block_y IS NULL THEN regexp_extract_all(cell[h.block_x], '\d+')
            ELSE [cell[h.block_x], cell[h.block_y], cell[h.block_z]] END AS block,
        -- Not the header itself: it would be copied for every row.
        cell[h.address] AS address_cell, cell[h.context] AS context_cell, cell[h.duration] AS duration_cell,
        cell[h.registers] AS registers_cell, cell[h.source_device] AS source_device_cell,
        cell[h.source_memory] AS source_memory_cell, cell[h.stream] AS stream_cell,
        cell[h.target_device] AS target_device_cell, cell[h.target_memory] AS target_memory_cell,
        cell[h.unified] AS unified_cell
    FROM cells, header
)
SELECT $first + "row" AS id, name, correlation, ns[1] AS start_ns, ns[2] AS dur_ns,
    coalesce(TRY_CAST(regexp_extract(device_name, '\((\d+)\)$', 1) AS BIGINT),
        list_position($devices, device_name) - 1) AS device,
    TRY_CAST(context_cell AS BIGINT) AS context, TRY_CAST(stream_cell AS BIGINT) AS stream,
    TRY_CAST(grid[1] AS BIGINT) AS grid_x, TRY_CAST(grid[2] AS BIGINT) AS grid_y, TRY_CAST(grid[3] AS BIGINT) AS grid_z,
    TRY_CAST(block[1] AS BIGINT) AS block_x, TRY_CAST(block[2] AS BIGINT) AS block_y,
    TRY_CAST(block[3] AS BIGINT) AS block_z,
    TRY_CAST(registers_cell AS BIGINT) AS registers,
    bytes[2] + bytes[3] AS shared_bytes, coalesce(bytes[1], bytes[4]) AS size_bytes,
    list_transform([source_memory_cell, target_memory_cell], lambda x:
        CASE WHEN x ILIKE 'managed%' THEN 'managed' WHEN x ILIKE 'device%' THEN 'device'
            WHEN x ILIKE 'unknown%' THEN NULL
            ELSE lower(x) END) AS memory,
    TRY_CAST(regexp_extract(source_device_cell, '\((\d+)\)$', 1) AS BIGINT) AS src_device,
    TRY_CAST(regexp_extract(target_device_cell, '\((\d+)\)$', 1) AS BIGINT) AS dst_device,
    unified_cell AS unified, address_cell AS address,
    CASE WHEN name LIKE '[CUDA memcpy %' OR name LIKE '[CUDA memset%' OR name LIKE '[Unified Memory Memcpy %'
        THEN 'memcpys'
        WHEN name LIKE '[%' THEN 'events'
        WHEN grid_x IS NOT NULL OR device_name IS NOT NULL THEN 'kernels'
        ELSE 'api_calls' END AS "table"
FROM typed
WHERE ns[1] IS NOT NULL AND name <> ''
    -- A mark or a page fault may have no duration, a kernel or a copy not.
    AND (ns[2] IS NOT NULL OR (duration_cell IS NULL AND name LIKE '[%' AND name NOT LIKE '[CUDA%'))
