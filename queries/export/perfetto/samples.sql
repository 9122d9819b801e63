-- title = "Perfetto: samples of counters"
-- doc = "By track, in order, with times as the slices have them."
SELECT CAST(n.uuid AS BIGINT) AS tid, c.start_ns - n.origin_ns AS at_ns, c.value
FROM export_counter n
JOIN (SELECT c.* REPLACE (start_ns - moved_ns AS start_ns) FROM counters c JOIN export_window w ON w.rank = c.rank) c
    ON c.rank = n.rank AND c.name IS NOT DISTINCT FROM n.name AND c.device IS NOT DISTINCT FROM n.device
WHERE c.start_ns BETWEEN n.first_ns AND n.last_ns AND isfinite(c.value)
ORDER BY n.uuid, c.start_ns, c.id
