-- title = "rocprofv3: texts to columns"
-- doc = """One row per object of one array: agents, kernel symbols, names of operations and buffer records share their
-- keys, so one query reads them all. Times are nanoseconds since the machine started."""
SELECT "row", $first + "row" AS id, $buffer AS buffer, CASE WHEN r IS NOT NULL THEN line END AS line,
    r.* REPLACE (
        -- Later, differences of times would leave 64 bits.
        CASE WHEN r.start_timestamp BETWEEN 0 AND 4000000000000000000 THEN r.start_timestamp END AS start_timestamp,
        CASE WHEN r.end_timestamp BETWEEN 0 AND 4000000000000000000 THEN r.end_timestamp END AS end_timestamp)
FROM (
    SELECT "row", line, TRY(from_json(line, '{
        "size": "BIGINT", "kind": "VARCHAR", "operation": "BIGINT", "thread_id": "BIGINT", "key": "BIGINT",
        "value": "VARCHAR",
        "correlation_id": {"internal": "BIGINT", "external": "BIGINT"},
        "start_timestamp": "BIGINT", "end_timestamp": "BIGINT", "timestamp": "BIGINT",
        "dispatch_info": {"agent_id": {"handle": "BIGINT"}, "queue_id": {"handle": "BIGINT"}, "kernel_id": "BIGINT",
            "group_segment_size": "BIGINT",
            "workgroup_size": {"x": "BIGINT", "y": "BIGINT", "z": "BIGINT"},
            "grid_size": {"x": "BIGINT", "y": "BIGINT", "z": "BIGINT"}},
        "stream_id": {"handle": "BIGINT"}, "src_agent_id": {"handle": "BIGINT"}, "dst_agent_id": {"handle": "BIGINT"},
        "bytes": "BIGINT", "allocation_size": "BIGINT", "operations": "VARCHAR[]",
        "kernel_id": "BIGINT", "kernel_name": "VARCHAR", "formatted_kernel_name": "VARCHAR",
        "arch_vgpr_count": "BIGINT",
        "id": {"handle": "BIGINT"}, "type": "BIGINT", "name": "VARCHAR", "product_name": "VARCHAR",
        "logical_node_type_id": "BIGINT", "cu_count": "BIGINT", "wave_front_size": "BIGINT",
        "max_waves_per_cu": "BIGINT",
        "max_engine_clk_fcompute": "BIGINT", "mem_banks": [{"size_in_bytes": "BIGINT"}]}')) AS r
    FROM lines
)
