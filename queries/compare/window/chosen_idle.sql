-- doc = """Why devices were idle in the chosen steps: with what ran it adds up to each step. What a gap that reaches
-- over the edge of a step has of each cause is divided by its time in each step. Idle time in steps that are warm-up,
-- and of whole recordings where there are steps, is not divided among causes and stands as unknown."""
-- [columns]
-- step = "the step; NULL for the whole recording"
-- cause = "as in the view idle_causes"
-- idle_ns = "over the devices of the rank"
-- weight = "one over steps and ranks"
WITH edge AS (
    SELECT rank, start_ns, end_ns, place FROM chosen_windows
), started AS (
    SELECT g.*, coalesce(e.place + if(g.from_ns >= e.end_ns, 1, 0), 1) AS first_place
    FROM idle_gaps g ASOF LEFT JOIN edge e ON e.rank = g.rank AND g.from_ns >= e.start_ns
), placed AS (
    SELECT s.*, unnest(range(s.first_place, e.place + 1)) AS place
    FROM started s ASOF JOIN edge e ON e.rank = s.rank AND s.until_ns > e.start_ns
), piece AS (
    SELECT w.rank, w.place, greatest(least(p.until_ns, w.end_ns) - greatest(p.from_ns, w.start_ns), 0) / p.idle_ns
            / w.n_devices AS share,
        ['data', 'allocation', 'communication', 'graph capture', 'synchronisation', 'between steps', 'launch']
            AS causes,
        [p.data_ns, p.allocation_ns, p.communication_ns, p.capture_ns, p.synchronisation_ns, p.between_steps_ns,
            p.launch_ns] AS times
    FROM placed p JOIN chosen_windows w ON w.rank = p.rank AND w.place = p.place
    WHERE w.step IS NOT NULL OR w.rank NOT IN (SELECT rank FROM scope WHERE has_steps)
), divided AS (
    SELECT rank, place, share, unnest(causes) AS cause, unnest(times) AS idle_ns FROM piece
), told AS (
    SELECT rank, place, cause, sum(share * idle_ns) AS idle_ns FROM divided WHERE idle_ns > 0 GROUP BY ALL
), whole AS (
    SELECT *, end_ns - start_ns AS idle_ns FROM chosen_windows
), active AS (
    SELECT rank, step, sum(own_ns) AS own_ns FROM chosen_rows GROUP BY rank, step
), rest AS (
    SELECT w.rank, w.place, w.idle_ns - coalesce(a.own_ns, 0) - coalesce((SELECT sum(t.idle_ns) FROM told t
        WHERE t.rank = w.rank AND t.place = w.place), 0) AS idle_ns
    FROM whole w LEFT JOIN active a ON a.rank = w.rank AND a.step IS NOT DISTINCT FROM w.step
)
SELECT w.rank, w.step, i.cause, i.idle_ns, 1.0 / (w.n_windows * w.n_ranks) AS weight
FROM (FROM told UNION ALL SELECT rank, place, 'unknown', idle_ns FROM rest WHERE abs(idle_ns) >= 1) i
JOIN chosen_windows w ON w.rank = i.rank AND w.place = i.place
