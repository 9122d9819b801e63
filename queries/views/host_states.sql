-- doc = """States of the host threads that launch for a device, as stretches of time that follow one another: the first
-- of loading data, allocating device memory, communicating, capturing a graph and waiting for the device that was in
-- progress, or nothing of these. Calls count for the devices that their thread launches for. Threads of their own
-- communicate and load ahead: a collective counts while none that launches is in an operator, loading as in
-- awaited_data. With the counted time of each before the stretch, so that what an idle gap holds of each is the
-- difference of two look-ups."""
-- materialize = true
-- [columns]
-- at_ns = "start of the stretch; it ends where the next one begins"
-- cause = "data, allocation, communication, graph capture or synchronisation; NULL for none of these"
-- is_counted = "whether it lies inside a step that counts"
-- n_edges = "edges of such steps until here: a gap between two different numbers reaches over one"
-- before_ns = "counted time before it"
WITH thread AS (
    SELECT DISTINCT a.rank, k.kind || ' ' || coalesce(CAST(w.device AS VARCHAR), '?') AS device, a.pid, a.tid
    FROM (SELECT launch_id, device FROM raw.kernels UNION ALL SELECT launch_id, device FROM raw.memcpys) w
    JOIN raw.api_calls a ON a.id = w.launch_id CROSS JOIN accelerator k
), place AS (
    SELECT DISTINCT rank, device FROM performed
), call AS (
    SELECT a.rank, t.device, a.start_ns, a.end_ns, a.cause
    FROM blocking_calls a JOIN thread t ON t.rank = a.rank AND t.pid IS NOT DISTINCT FROM a.pid
        AND t.tid IS NOT DISTINCT FROM a.tid
), op AS (
    -- Of ranks whose host communicates: what it does on a thread of its own is waited for by who does nothing else.
    SELECT o.rank, t.device, o.pid, o.tid, o.start_ns, o.start_ns + o.dur_ns AS end_ns, o.depth,
        regexp_matches(o.name, '(?i)c10d|record_param_comms|wait|barrier') AS is_waiting
    FROM raw.ops o JOIN thread t ON t.rank = o.rank AND t.pid IS NOT DISTINCT FROM o.pid
        AND t.tid IS NOT DISTINCT FROM o.tid
    WHERE o.rank IN (SELECT rank FROM raw.collectives WHERE kernel_id IS NULL)
), wait AS (
    FROM call
    UNION ALL
    SELECT o.rank, o.device, o.start_ns, o.end_ns, 'work' FROM op o
    ASOF LEFT JOIN (FROM op WHERE is_waiting) w ON w.rank = o.rank AND w.device = o.device
        AND w.pid IS NOT DISTINCT FROM o.pid AND w.tid IS NOT DISTINCT FROM o.tid AND o.start_ns <= w.start_ns
    WHERE o.depth = 0 AND coalesce(w.start_ns >= o.end_ns, true)
    UNION ALL
    SELECT p.rank, p.device, e.start_ns, e.end_ns, e.cause FROM place p JOIN (
        SELECT rank, start_ns, start_ns + dur_ns AS end_ns, 'data' AS cause FROM awaited_data
        UNION ALL
        SELECT rank, start_ns, start_ns + dur_ns, 'communication' FROM raw.collectives WHERE kernel_id IS NULL
        UNION ALL
        SELECT rank, start_ns, end_ns, 'graph capture' FROM graph_captures
        UNION ALL
        SELECT rank, start_ns, end_ns, 'window' FROM counted_windows
    ) e ON e.rank = p.rank
), edge AS (
    SELECT rank, device, start_ns AS at_ns, cause, 1 AS way FROM wait WHERE end_ns > start_ns
    UNION ALL
    SELECT rank, device, end_ns, cause, -1 FROM wait WHERE end_ns > start_ns
), moment AS (
    SELECT rank, device, at_ns, sum(way) FILTER (cause = 'data') AS data,
        sum(way) FILTER (cause = 'allocation') AS allocation,
        sum(way) FILTER (cause = 'communication') AS communication, sum(way) FILTER (cause = 'work') AS work,
        sum(way) FILTER (cause = 'graph capture') AS capture,
        sum(way) FILTER (cause = 'synchronisation') AS synchronisation, sum(way) FILTER (cause = 'window') AS counted,
        count(*) FILTER (cause = 'window') AS edges
    FROM edge GROUP BY rank, device, at_ns
), state AS (
    SELECT rank, device, at_ns, sum(counted) OVER since > 0 AS is_counted, (sum(edges) OVER since)::BIGINT AS n_edges,
        lead(at_ns) OVER (PARTITION BY rank, device ORDER BY at_ns) - at_ns AS dur_ns,
        CASE WHEN sum(data) OVER since > 0 THEN 'data' WHEN sum(allocation) OVER since > 0 THEN 'allocation'
            WHEN sum(communication) OVER since > 0 AND coalesce(sum(work) OVER since, 0) = 0 THEN 'communication'
            WHEN sum(capture) OVER since > 0 THEN 'graph capture'
            WHEN sum(synchronisation) OVER since > 0 THEN 'synchronisation' END AS cause
    FROM moment
    WINDOW since AS (PARTITION BY rank, device ORDER BY at_ns ROWS UNBOUNDED PRECEDING)
)
SELECT rank, device, at_ns, cause, coalesce(is_counted, false) AS is_counted, n_edges,
    CAST(coalesce(sum(dur_ns) FILTER (is_counted) OVER past, 0) AS BIGINT) AS before_ns,
    CAST(coalesce(sum(dur_ns) FILTER (is_counted AND cause = 'data') OVER past, 0) AS BIGINT) AS data_ns,
    CAST(coalesce(sum(dur_ns) FILTER (is_counted AND cause = 'allocation') OVER past, 0) AS BIGINT) AS allocation_ns,
    CAST(coalesce(sum(dur_ns) FILTER (is_counted AND cause = 'communication') OVER past, 0) AS BIGINT)
        AS communication_ns,
    CAST(coalesce(sum(dur_ns) FILTER (is_counted AND cause = 'graph capture') OVER past, 0) AS BIGINT)
        AS capture_ns,
    CAST(coalesce(sum(dur_ns) FILTER (is_counted AND cause = 'synchronisation') OVER past, 0) AS BIGINT)
        AS synchronisation_ns
FROM state
WINDOW past AS (PARTITION BY rank, device ORDER BY at_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
