-- doc = """The windows of time that are compared: the chosen steps; where there are none the whole recording, from the
-- first to the last thing that a device of the rank did."""
-- [columns]
-- rank = "process of the job"
-- step = "number of the step; NULL for the whole recording"
-- place = "which of the windows of its rank, from 1"
-- n_windows = "windows of its rank"
-- n_ranks = "ranks with a window"
-- n_devices = "devices of its rank on which something ran"
SELECT w.*, row_number() OVER (PARTITION BY w.rank ORDER BY w.start_ns, w.end_ns) AS place,
    count(*) OVER (PARTITION BY w.rank) AS n_windows,
    (SELECT count(DISTINCT rank) FROM chosen_steps) + (SELECT count(DISTINCT rank) FROM totals
        WHERE NOT EXISTS (FROM chosen_steps)) AS n_ranks,
    greatest(c.n_devices, 1) AS n_devices
FROM (
    SELECT rank, step, start_ns, start_ns + dur_ns AS end_ns FROM chosen_steps
    UNION ALL
    SELECT rank, NULL, min(first_ns), max(last_ns) FROM totals WHERE NOT EXISTS (FROM chosen_steps) GROUP BY rank
) w JOIN scope c ON c.rank = w.rank
