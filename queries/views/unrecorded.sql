-- doc = """Ranks that ran work on an accelerator of which nothing was read: launches without kernels, events of its
-- runtime, operators of its libraries, or rows of an NPU, as the profiler of Ascend's torch_npu writes them. What their
-- host spent in operators is not work of a CPU."""
-- [columns]
-- n_launches = "calls that launched work"
-- n_operators = "operators of a GPU's library"
-- n_rows = "rows that are in the file, of processes that are labelled NPU"
WITH bare AS (
    SELECT rank FROM raw.ranks
    WHERE rank NOT IN (SELECT rank FROM raw.kernels UNION SELECT rank FROM raw.memcpys)
), sign AS (
    SELECT rank, 1 AS launches, 0 AS operators, 0 AS rows FROM raw.api_calls
    WHERE rank IN (FROM bare) AND regexp_matches(name, '(?i)launch|enqueue|graphexec')
    UNION ALL
    SELECT rank, 0, 0, 0 FROM raw.events
    WHERE rank IN (FROM bare) AND regexp_matches(category, '^(mtia|hpu|xpu|npu|privateuse1|glow)')
    UNION ALL
    SELECT rank, 0, 1, 0 FROM raw.ops
    WHERE rank IN (FROM bare) AND regexp_matches(name, '^aten::_?(cudnn|miopen)_(conv|depthwise|batch_norm|rnn)'
        || '|^aten::_?mps_|^aten::(_scaled_dot_product)?_(flash|efficient|cudnn)_attention(_forward)?$|^npu::')
    UNION ALL
    SELECT rank, 0, 0, 1 FROM raw.events
    WHERE rank IN (FROM bare) AND phase = 'X' AND (rank, pid) IN (SELECT (rank, pid) FROM raw.events
        WHERE phase = 'M' AND name = 'process_labels' AND args ->> '$.labels' = 'NPU'
        EXCEPT SELECT (rank, pid) FROM raw.events
        WHERE phase = 'M' AND name = 'process_name' AND args ->> '$.name' = 'Overlap Analysis')
)
SELECT rank, CAST(sum(launches) AS BIGINT) AS n_launches, CAST(sum(operators) AS BIGINT) AS n_operators,
    CAST(sum(rows) AS BIGINT) AS n_rows
FROM sign GROUP BY rank
