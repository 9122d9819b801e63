-- doc = """Consecutive steps together: as many as the cube root of their number, and at most 64 blocks. What happens in
-- a step depends on the one before, so that noise is looked for between blocks."""
-- [columns]
-- block = "number of the block, from 0"
-- part = "category, idle and its cause, or (whole step)"
-- steps = "steps in the block"
-- busy_ns = "mean time per step and rank, overlaps counted once"
WITH timed AS (
    SELECT step, avg(dur_ns) AS dur_ns FROM chosen_steps GROUP BY step
), numbered AS (
    SELECT step, dur_ns, row_number() OVER (ORDER BY step) - 1 AS place, count(*) OVER () AS n_steps FROM timed
), blocked AS (
    SELECT step, dur_ns,
        CAST(place // greatest(floor(n_steps ** (1.0 / 3) + 1e-9), ceil(n_steps / 64)) AS BIGINT) AS block
    FROM numbered
), sized AS (
    SELECT block, count(*) AS steps, sum(dur_ns) AS dur_ns FROM blocked GROUP BY block
), ran AS (
    SELECT b.block, if(r.is_carried, '(launched outside these steps)', r.category) AS part, sum(r.own_ns) AS busy_ns
    FROM chosen_rows r JOIN blocked b USING (step) GROUP BY ALL
    UNION ALL
    SELECT b.block, 'idle: ' || i.cause, sum(i.idle_ns)
    FROM chosen_idle i JOIN blocked b USING (step) GROUP BY ALL
)
SELECT block, '(whole step)' AS part, steps, CAST(dur_ns / steps AS DOUBLE) AS busy_ns FROM sized
UNION ALL
SELECT block, part, steps, CAST(busy_ns / steps / (SELECT count(DISTINCT rank) FROM chosen_steps) AS DOUBLE)
FROM ran JOIN sized USING (block)
ORDER BY block, part
