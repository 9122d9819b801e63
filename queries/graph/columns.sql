-- title = "The tasks as numbers"
-- doc = "In their order, all of 64 bits: Arrow would import 0.09 s of modules to widen others. NULL becomes -1."
SELECT number, CAST(class AS BIGINT) AS class, CAST(rank AS BIGINT) AS rank, lane, tid, start_ns, end_ns, launch_id,
    CAST(is_sync AS BIGINT) AS is_sync, sync_stream, queued_ns,
    match_id, last_ns, if(kind = 'call', id, NULL) AS call_id,
    if(kind = 'operator', id, NULL) AS op_id
FROM critical_task
ORDER BY number
