-- title = "What a stream waits for on another one"
-- doc = """Recorded waits for events: what was launched last on the stream before the event was recorded there, and
-- what was launched first on the stream that waits."""
-- [columns]
-- source = "number of the task that is waited for"
-- target = "number of the task that waits"
WITH event AS (
    SELECT rank, TRY_CAST(args->>'$.stream' AS BIGINT) AS stream,
        TRY_CAST(args->>'$.wait_on_stream' AS BIGINT) AS other,
        TRY_CAST(args->>'$.correlation' AS BIGINT) AS wait_call,
        TRY_CAST(args->>'$.wait_on_cuda_event_record_corr_id' AS BIGINT) AS record_call
    FROM raw.events WHERE category = 'cuda_sync' AND name LIKE '%Wait%'
), timed AS (
    SELECT e.rank, e.stream, e.other, w.start_ns AS wait_ns, r.start_ns AS record_ns
    FROM event e JOIN raw.api_calls w ON w.rank = e.rank AND w.correlation = e.wait_call
    JOIN raw.api_calls r ON r.rank = e.rank AND r.correlation = e.record_call
), put AS (
    SELECT t.number, t.rank, t.tid AS stream, a.start_ns AS launched_ns
    FROM critical_task t JOIN raw.api_calls a ON a.id = t.launch_id WHERE t.class = 0
)
SELECT s.number AS source, d.number AS target
FROM timed t
ASOF JOIN put s ON s.rank = t.rank AND s.stream = t.other AND t.record_ns >= s.launched_ns
ASOF JOIN put d ON d.rank = t.rank AND d.stream = t.stream AND t.wait_ns <= d.launched_ns
ORDER BY source, target
