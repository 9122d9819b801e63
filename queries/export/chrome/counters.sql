-- title = "Chrome JSON: counters"
-- doc = "Samples of the chosen ranks, moved as the slices are."
SELECT CAST(to_json({ph: 'C',
    name: coalesce(c.name, '') || if(c.device IS NULL, '', ' gpu ' || CAST(c.device AS VARCHAR)),
    pid: p.pid, ts: CAST(c.start_ns - o.origin_ns AS DECIMAL(19, 0)) * CAST(0.001 AS DECIMAL(4, 3)),
    args: {value: c.value}}) AS VARCHAR) AS event
FROM (SELECT c.* REPLACE (start_ns - moved_ns AS start_ns) FROM counters c JOIN export_window w ON w.rank = c.rank) c
CROSS JOIN (SELECT least(0, min(start_ns)) AS origin_ns, min(start_ns) AS first_ns, max(end_ns) AS last_ns
    FROM export_slice) o
JOIN (SELECT rank, min(pid) AS pid FROM export_track GROUP BY rank) p ON p.rank = c.rank
WHERE c.start_ns BETWEEN o.first_ns AND o.last_ns AND isfinite(c.value)
