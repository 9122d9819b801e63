-- doc = """Consecutive steps together: as many as the cube root of their number, and at most 64 blocks. What happens in
-- a step depends on the one before, so that noise is looked for between blocks."""
-- [columns]
-- block = "number of the block, from 0"
-- part = "category, idle and its cause, or (whole step)"
-- steps = "steps in the block; where ranks have different numbers of steps, its share of all that count"
-- busy_ns = "mean time per step and rank, overlaps counted once"
WITH numbered AS (
    SELECT rank, step, dur_ns, dense_rank() OVER (ORDER BY step) - 1 AS place, count(*) OVER (PARTITION BY rank) AS n,
        (SELECT count(DISTINCT step) FROM chosen_steps) AS n_steps
    FROM chosen_steps
), blocked AS (
    -- Ranks count alike: of one with half as many steps each counts twice.
    SELECT rank, step, dur_ns, n_steps / n AS weight,
        CAST(place // greatest(floor(n_steps ** (1.0 / 3) + 1e-9), ceil(n_steps / 64)) AS BIGINT) AS block
    FROM numbered
), sized AS (
    SELECT block, sum(weight) AS weight, sum(dur_ns * weight) AS dur_ns,
        sum(weight) / (SELECT count(DISTINCT rank) FROM chosen_steps) AS steps
    FROM blocked GROUP BY block
), ran AS (
    SELECT b.block, if(r.is_carried, '(launched outside these steps)', r.category) AS part,
        sum(r.own_ns * b.weight) AS busy_ns
    FROM chosen_rows r JOIN blocked b USING (rank, step) GROUP BY ALL
    UNION ALL
    SELECT b.block, 'idle: ' || i.cause, sum(i.idle_ns * b.weight)
    FROM chosen_idle i JOIN blocked b USING (rank, step) GROUP BY ALL
)
SELECT block, '(whole step)' AS part, steps, dur_ns / weight AS busy_ns FROM sized
UNION ALL
SELECT block, part, steps, busy_ns / weight
FROM ran JOIN sized USING (block)
ORDER BY block, part
