-- title = "The tasks as numbers"
-- doc = "In their order; NULL becomes -1."
SELECT number, class, rank, lane, tid, start_ns, end_ns, launch_id, CAST(is_sync AS BIGINT) AS is_sync,
    sync_stream, queued_ns,
    match_id, last_ns, if(kind = 'call', id, NULL) AS call_id,
    if(kind = 'operator', id, NULL) AS op_id
FROM critical_task
ORDER BY number
