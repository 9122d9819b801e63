-- doc = "The parts of each run's step beside those of A, with the interval of their difference."
-- [columns]
-- run = "number of the run"
-- is_beyond = "whether the difference is beyond the noise; NULL where that is not known"
WITH side AS (
    SELECT p.run, part.part, part.place,
        any_value(part.calls) FILTER (part.run = 0) AS base_calls,
        any_value(part.calls) FILTER (part.run > 0) AS calls,
        coalesce(any_value(part.busy_ns) FILTER (part.run = 0), 0) AS base_ns,
        coalesce(any_value(part.busy_ns) FILTER (part.run > 0), 0) AS busy_ns
    FROM pair p JOIN part ON part.run IN (0, p.run)
    -- A log that times layers only, or several implementations, has no step to be taken apart.
    WHERE part.part NOT LIKE '(%' OR (p.base_ns IS NOT NULL AND p.step_ns IS NOT NULL)
    GROUP BY ALL
)
SELECT s.*, s.busy_ns - s.base_ns AS diff_ns, n.low_ns, n.high_ns, (n.low_ns > 0 OR n.high_ns < 0) AS is_beyond
FROM side s JOIN pair p USING (run)
-- A log has the times of its steps alone, one by one: of their parts it has averages.
LEFT JOIN part_noise n ON n.run = s.run AND n.part = s.part AND (s.part = '(whole step)' OR NOT p.is_log)
