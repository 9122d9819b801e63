-- doc = """Everything that ran in the chosen steps (in the whole recording where there are none), whoever launched it
-- and when: a step is a window of time on the device. What reaches over the edge of a step is a row for each of
-- them."""
-- [columns]
-- step = "the step in which it ran; NULL for the whole recording"
-- own_ns = """its time in that step, less what overlaps work that started earlier on the same device, over the devices
-- of its rank: with the idle time it adds up to the step"""
-- is_start = "whether it begins in that step: it is counted there"
-- is_carried = "whether it was launched outside the chosen steps"
-- weight = "one over steps and ranks: sums of values times this are per step and rank"
WITH edge AS (
    SELECT rank, start_ns, end_ns, place FROM chosen_windows
), started AS (
    -- An ASOF join sorts its rows with all of their columns: only what is needed to find their steps.
    SELECT b.rank, b.kind, b.id, b.start_ns, b.end_ns, coalesce(e.place + if(b.start_ns >= e.end_ns
        AND b.end_ns > e.end_ns, 1, 0), 1) AS first_place
    FROM busy b ASOF LEFT JOIN edge e ON e.rank = b.rank AND b.start_ns >= e.start_ns
), placed AS (
    SELECT s.rank, s.kind, s.id, s.start_ns, unnest(range(s.first_place, e.place + 1)) AS place
    FROM started s ASOF JOIN edge e ON e.rank = s.rank AND s.end_ns >= e.start_ns
), piece AS (
    SELECT b.* EXCLUDE (is_carried, step), b.step AS launched_in, w.step,
        greatest(least(b.end_ns, w.end_ns) - greatest(b.end_ns - b.alone_ns, w.start_ns), 0) / w.n_devices AS own_ns,
        b.start_ns >= w.start_ns AND (b.start_ns < w.end_ns OR w.step IS NULL) AS is_start,
        b.end_ns > w.start_ns AND b.start_ns < w.end_ns AS is_inside, 1.0 / (w.n_windows * w.n_ranks) AS weight
    FROM placed p JOIN chosen_windows w ON w.rank = p.rank AND w.place = p.place
    JOIN busy b ON b.id = p.id AND b.rank = p.rank AND b.kind = p.kind AND b.start_ns = p.start_ns
)
SELECT * EXCLUDE (launched_in, is_inside),
    coalesce(step IS NOT NULL AND (rank, launched_in) NOT IN (SELECT (rank, step) FROM chosen_steps)
        AND NOT (launched_ns IS NULL AND is_start), false)
        OR step IS NOT NULL AND launched_in IS NULL AND NOT (launched_ns IS NULL AND is_start) AS is_carried
FROM piece WHERE is_start OR is_inside
