-- title = "The step whose path tells what advice can give"
-- doc = """The usual one of the steps that count, of those first for which it is recorded what launched the work of the
-- device, then of those that the most ranks have; none without steps."""
-- [params]
-- launched_pct = { type = "DOUBLE", default = 90, doc = "work whose call must be recorded, in percent" }
WITH work AS (
    SELECT rank, start_ns, launch_id, step FROM raw.kernels
    UNION ALL SELECT rank, start_ns, launch_id, step FROM raw.memcpys
), launched AS (
    SELECT step, count(*) AS n FROM work WHERE launch_id IS NOT NULL GROUP BY step
), lost AS (
    -- What was launched before the recording began: few rows, or none of them is known.
    SELECT s.step, count(*) AS n FROM (
        SELECT rank, start_ns FROM work WHERE launch_id IS NULL AND EXISTS (FROM launched)
    ) w ASOF JOIN steps s ON s.rank = w.rank AND w.start_ns >= s.start_ns WHERE w.start_ns < s.end_ns GROUP BY s.step
)
SELECT s.step FROM step_distances s LEFT JOIN launched k USING (step) LEFT JOIN lost l USING (step)
ORDER BY coalesce(100 * l.n > (100 - $launched_pct) * (l.n + coalesce(k.n, 0)), false),
    s.n_ranks DESC, round(s.distance, 4), s.from_middle, s.step
LIMIT 1
