-- doc = """The view idle_gaps summed up: one row per device, cause, and what ended the gap."""
-- materialize = true
-- [columns]
-- cause = "data, allocation, communication, graph capture, synchronisation, between steps, launch or unknown"
-- idle_ns = "idle time of this cause, in all steps that count"
-- n_gaps = "gaps of which it is the largest part"
-- longest_ns = "the longest of these"
-- before = "category of what ended the gap; NULL after the last activity"
WITH gap AS (
    SELECT *, greatest(data_ns, allocation_ns, communication_ns, capture_ns, synchronisation_ns, between_steps_ns,
        launch_ns, unknown_ns) AS most_ns
    FROM idle_gaps
), summed AS (
    SELECT rank, device, category AS before, op_name,
        CASE most_ns WHEN data_ns THEN 'data' WHEN allocation_ns THEN 'allocation'
            WHEN communication_ns THEN 'communication' WHEN capture_ns THEN 'graph capture'
            WHEN synchronisation_ns THEN 'synchronisation'
            WHEN between_steps_ns THEN 'between steps' WHEN launch_ns THEN 'launch' ELSE 'unknown' END AS largest,
        count(*) AS n, max(idle_ns) AS longest_ns,
        [sum(data_ns), sum(allocation_ns), sum(communication_ns), sum(capture_ns), sum(synchronisation_ns),
            sum(between_steps_ns), sum(launch_ns), sum(unknown_ns)] AS parts
    FROM gap GROUP BY ALL
), divided AS (
    SELECT * EXCLUDE (parts), unnest(parts) AS idle_ns, unnest(['data', 'allocation', 'communication',
        'graph capture', 'synchronisation', 'between steps', 'launch', 'unknown']) AS cause
    FROM summed
)
SELECT rank, device, cause, before, op_name, CAST(sum(idle_ns) AS BIGINT) AS idle_ns,
    CAST(coalesce(sum(n) FILTER (largest = cause), 0) AS BIGINT) AS n_gaps,
    max(longest_ns) FILTER (largest = cause) AS longest_ns
FROM divided WHERE idle_ns > 0
GROUP BY ALL
ORDER BY ALL
