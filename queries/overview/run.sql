-- title = "The run"
-- doc = "Framework, trace format and devices of the recording."
-- brief = ""
-- lines = ["{group}", "{format}", "{longest_ns} recorded", "{origin}"]
-- [columns]
-- rank = "process of the job"
-- framework = "framework, as recorded or by the names of its kernels, and its version where recorded"
-- format = "trace format"
-- device = "devices on which something ran; where the trace has no name, --gpu's or what their kernels show"
-- origin = "when the recording began (UTC)"
-- span_ns = "from the first step, or the first thing a device did, to the end of the last"
-- longest_ns = "the longest span_ns of these ranks"
-- group = "at the first of the ranks that ran the same way: how many these are, their framework and device"
WITH run AS (
    SELECT c.rank,
        coalesce(any_value(f.name), '?')
            || coalesce(' ' || any_value(c.framework_version), '') AS framework,
        string_agg(DISTINCT c.format, ', ' ORDER BY c.format) AS format,
        coalesce(any_value(d.name), if(bool_or(h.kernels > 0), NULL, any_value(p.name)), CASE
            WHEN bool_or(h.kernels > 0) THEN '?'
            WHEN bool_or(w.is_host) THEN 'CPU' END, '?') AS device,
        -- A clock that began with the machine, not in 1970, gives no date.
        strftime(make_timestamp(any_value(c.origin_unix_ns) FILTER (c.origin_unix_ns > 946684800000000000) // 1000),
            '%Y-%m-%d %H:%M:%S') AS origin,
        if(any_value(w.rank) IS NULL, NULL, any_value(r.run_ns)) AS span_ns
    FROM captures c
    LEFT JOIN known_frameworks f USING (rank)
    LEFT JOIN (
        SELECT rank, string_agg(DISTINCT name, ', ' ORDER BY name) AS name FROM known_devices
        WHERE (rank, (SELECT kind FROM accelerator) || ' ' || coalesce(CAST(device AS VARCHAR), '?'))
            IN (SELECT (rank, device) FROM totals WHERE kind = 'kernel')
        GROUP BY rank
    ) d USING (rank)
    LEFT JOIN (SELECT rank, any_value(name) AS name FROM devices WHERE kind = 'cpu' GROUP BY rank) p USING (rank)
    LEFT JOIN recorded h USING (rank)
    LEFT JOIN (SELECT rank, bool_or(kind IN ('op', 'primitive')) AS is_host FROM totals GROUP BY rank) w USING (rank)
    LEFT JOIN recordings r USING (rank)
    GROUP BY c.rank
)
SELECT *, max(span_ns) OVER same AS longest_ns, CASE WHEN row_number() OVER (same ORDER BY rank) = 1
    THEN if(count(*) OVER same = 1, '', count(*) OVER same || ' ranks of ')
        || if(framework = '?', 'unknown framework', framework) || if(device = '?', '', ' | ' || device) END AS "group"
FROM run
WINDOW same AS (PARTITION BY framework, format, device)
ORDER BY rank
