-- title = "Autograd profiler: flows from an operator to its rows on a device"
-- doc = "Both ends of a flow arrive apart; each row here is one end, joined when the file has been read."
SELECT id, 'other' AS kind, TRY_CAST(flow AS BIGINT) AS flow,
    CASE WHEN ph = 's' THEN start_ns END AS source_ns, CASE WHEN ph = 's' THEN pid END AS source_pid,
    CASE WHEN ph = 's' THEN tid END AS source_tid, CASE WHEN ph = 'f' THEN start_ns END AS target_ns,
    CASE WHEN ph = 'f' THEN pid END AS target_pid, CASE WHEN ph = 'f' THEN tid END AS target_tid
FROM event WHERE ph IN ('s', 'f') AND start_ns IS NOT NULL AND flow IS NOT NULL
