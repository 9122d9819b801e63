-- title = "Kineto: flows"
-- doc = "Both ends of a flow arrive apart; each row here is one end, joined when the file has been read."
SELECT
    id,
    CASE
        WHEN cat LIKE 'fwd%' OR cat LIKE 'forward%' THEN 'forward_backward'
        WHEN cat IN ('ac2g', 'async', 'async_cpu_to_gpu') THEN 'launch'
        ELSE 'other'
    END AS kind,
    TRY_CAST(flow AS BIGINT) AS flow,
    CASE WHEN ph = 's' THEN start_ns END AS source_ns,
    CASE WHEN ph = 's' THEN pid END AS source_pid,
    CASE WHEN ph = 's' THEN tid END AS source_tid,
    CASE WHEN ph = 'f' THEN start_ns END AS target_ns,
    CASE WHEN ph = 'f' THEN pid END AS target_pid,
    CASE WHEN ph = 'f' THEN tid END AS target_tid
FROM event
WHERE goes_to = 'links'
