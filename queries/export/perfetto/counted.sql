-- title = "Perfetto: counters, numbered behind tracks and their groups"
-- doc = "Those of the chosen ranks with samples in the time of the slices; below the first group of their rank."
-- [columns]
-- uuid = "number of the counter's track"
-- place = "place among its siblings"
-- unit = "3 where the samples are bytes, else 0, as in counter_descriptor.proto"
SELECT t.last_uuid + row_number() OVER (ORDER BY c.rank, c.name, c.device NULLS FIRST) AS uuid,
    p.pid + t.last_tid AS parent,
    coalesce(c.name, '') || if(c.device IS NULL, '', ' gpu ' || CAST(c.device AS VARCHAR)) AS label,
    1000000 + row_number() OVER (ORDER BY c.rank, c.name, c.device NULLS FIRST) AS place,
    if(ends_with(c.name, '_bytes'), 3, 0) AS unit, c.rank, c.name, c.device, t.origin_ns, t.first_ns, t.last_ns
FROM (SELECT DISTINCT rank, name, device FROM counters WHERE isfinite(value)) c
JOIN (SELECT rank, min(pid) AS pid FROM export_track GROUP BY rank) p ON p.rank = c.rank
CROSS JOIN (
    SELECT (SELECT max(tid) FROM export_track) AS last_tid, (SELECT max(tid) + max(pid) FROM export_track) AS last_uuid,
        least(0, min(start_ns)) AS origin_ns, min(start_ns) AS first_ns, max(end_ns) AS last_ns
    FROM export_slice
) t
