-- title = "chosen_rows"
-- doc = """Everything that ran in the chosen steps (in the whole recording where there are none), with the part of its
-- time that nothing earlier on any device of its rank covers, and the weight that makes sums mean values per step and
-- rank."""
-- [columns]
-- weight = "one over steps and ranks"
WITH per_rank AS (
    SELECT rank, count(*) AS n_steps FROM chosen_steps GROUP BY rank
), counts AS (
    SELECT count(*) AS n_ranks FROM (FROM per_rank UNION ALL
        SELECT DISTINCT rank, 1 FROM busy WHERE NOT EXISTS (FROM chosen_steps))
)
SELECT b.*, 1.0 / (coalesce(p.n_steps, 1) * c.n_ranks) AS weight
FROM busy b CROSS JOIN counts c LEFT JOIN per_rank p USING (rank)
WHERE NOT EXISTS (FROM chosen_steps) OR (b.rank, b.step) IN (SELECT (rank, step) FROM chosen_steps)
