-- doc = """Every stretch of the steps that count in which a device did nothing, cut by what the host did meanwhile;
-- each nanosecond has one cause. First what was in progress: loading data, else allocating, communicating, capturing a
-- graph, waiting for the device. Where the call that launched what ended the gap had ended when the gap began, or most
-- of the gap, and more than 0.1 ms, came after that call, waiting counts until then, and the rest is not the host's.
-- The rest is synchronisation where it may be the host's and the host was waiting when the device ran dry, else between
-- steps where the gap reaches over the edge of a step, else launch where it may be the host's, else unknown."""
-- materialize = true
-- [columns]
-- id = "the activity that ended it; NULL after the last one"
-- from_ns = "start of the gap"
-- until_ns = "end of the gap"
-- idle_ns = "its part inside steps that count: the sum of all causes"
-- launch_ns = "the host had not launched yet what comes next"
WITH span AS (
    SELECT rank, device, max(end_ns) AS end_ns FROM performed GROUP BY rank, device
), gap AS (
    SELECT a.id, a.rank, a.device, a.category, a.op_name, coalesce(a.device_until_ns, c.first_ns) AS from_ns,
        a.start_ns AS until_ns, a.launched_ns > from_ns AND a.start_ns - a.launched_ns
            <= greatest(a.launched_ns - from_ns, 100000) AS is_late,
        c.has_steps AND a.device_until_ns IS NULL AS is_end,
        if(NOT is_late, greatest(from_ns, a.launched_ns), a.start_ns) AS queued_ns
    FROM performed a JOIN scope c ON c.rank = a.rank
    WHERE a.start_ns > coalesce(a.device_until_ns, c.first_ns)
    UNION ALL
    SELECT NULL, s.rank, s.device, NULL, NULL, s.end_ns, c.last_ns, NULL, c.has_steps, c.last_ns
    FROM span s JOIN scope c ON c.rank = s.rank WHERE c.last_ns > s.end_ns
), state AS (
    SELECT *, lead(at_ns) OVER (PARTITION BY rank, device ORDER BY at_ns) AS next_ns FROM host_states
), opened AS MATERIALIZED (
    SELECT g.*, s.at_ns, s.cause, s.is_counted, coalesce(g.until_ns < s.next_ns, false) AS is_within
    FROM gap g ASOF LEFT JOIN state s ON s.rank = g.rank AND s.device = g.device AND g.from_ns >= s.at_ns
), beyond AS (
    SELECT g.*, c.has_steps, s.n_edges AS edges_at_start,
        coalesce(s.before_ns + if(s.is_counted, g.from_ns - s.at_ns, 0), 0) AS before_ns,
        coalesce(s.data_ns + if(s.is_counted AND s.cause = 'data', g.from_ns - s.at_ns, 0), 0)
            AS data_ns,
        coalesce(s.allocation_ns + if(s.is_counted AND s.cause = 'allocation', g.from_ns - s.at_ns, 0), 0)
            AS allocation_ns,
        coalesce(s.communication_ns + if(s.is_counted AND s.cause = 'communication', g.from_ns - s.at_ns, 0), 0)
            AS communication_ns,
        coalesce(s.capture_ns + if(s.is_counted AND s.cause = 'graph capture', g.from_ns - s.at_ns, 0), 0)
            AS capture_ns,
        coalesce(s.synchronisation_ns + if(s.is_counted AND s.cause = 'synchronisation', g.from_ns - s.at_ns, 0), 0)
            AS synchronisation_ns
    FROM opened g JOIN scope c ON c.rank = g.rank
    LEFT JOIN host_states s ON s.rank = g.rank AND s.device = g.device AND s.at_ns = g.at_ns
    WHERE NOT g.is_within
), cut AS (
    -- Nearly every gap ends in the state of the host that it begins in.
    SELECT id, rank, device, category, op_name, from_ns, until_ns, is_late, cause AS cause_at_start, is_end AS is_edge,
        until_ns - from_ns AS idle_ns,
        if(cause = 'data', idle_ns, 0) AS data_ns,
        if(cause = 'allocation', idle_ns, 0) AS allocation_ns,
        if(cause = 'communication', idle_ns, 0) AS communication_ns,
        if(cause = 'graph capture', idle_ns, 0) AS capture_ns,
        if(cause = 'synchronisation', queued_ns - from_ns, 0) AS waited_ns
    FROM opened WHERE is_within AND is_counted
    UNION ALL
    SELECT g.id, g.rank, g.device, g.category, g.op_name, g.from_ns, g.until_ns, g.is_late, g.cause,
        g.is_end OR g.has_steps AND g.edges_at_start IS DISTINCT FROM s.n_edges,
        s.before_ns + if(s.is_counted, g.until_ns - s.at_ns, 0) - g.before_ns,
        s.data_ns + if(s.is_counted AND s.cause = 'data', g.until_ns - s.at_ns, 0) - g.data_ns,
        s.allocation_ns + if(s.is_counted AND s.cause = 'allocation', g.until_ns - s.at_ns, 0) - g.allocation_ns,
        s.communication_ns + if(s.is_counted AND s.cause = 'communication', g.until_ns - s.at_ns, 0)
            - g.communication_ns,
        s.capture_ns + if(s.is_counted AND s.cause = 'graph capture', g.until_ns - s.at_ns, 0) - g.capture_ns,
        coalesce(q.synchronisation_ns + if(q.is_counted AND q.cause = 'synchronisation', g.queued_ns - q.at_ns, 0), 0)
            - g.synchronisation_ns
    FROM beyond g ASOF JOIN host_states s ON s.rank = g.rank AND s.device = g.device AND g.until_ns >= s.at_ns
    ASOF LEFT JOIN host_states q ON q.rank = g.rank AND q.device = g.device AND g.queued_ns >= q.at_ns
), rest AS (
    SELECT *, idle_ns - data_ns - allocation_ns - communication_ns - capture_ns - waited_ns AS rest_ns,
        CASE WHEN cause_at_start = 'synchronisation' AND coalesce(is_late, true) THEN 'synchronisation'
            WHEN is_edge THEN 'between steps' WHEN is_late THEN 'launch' ELSE 'unknown' END AS rest_cause
    FROM cut WHERE idle_ns > 0
)
SELECT id, rank, device, category, op_name, from_ns, until_ns, idle_ns, data_ns, allocation_ns, communication_ns,
    capture_ns, waited_ns + if(rest_cause = 'synchronisation', rest_ns, 0) AS synchronisation_ns,
    if(rest_cause = 'between steps', rest_ns, 0) AS between_steps_ns,
    if(rest_cause = 'launch', rest_ns, 0) AS launch_ns,
    if(rest_cause = 'unknown', rest_ns, 0) AS unknown_ns
FROM rest
