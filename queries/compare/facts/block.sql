-- title = "block"
-- doc = """Consecutive steps together: as many as the cube root of their number, and at most 64 blocks. What happens in
-- a step depends on the one before, so that noise is looked for between blocks."""
-- [columns]
-- block = "number of the block, from 0"
-- part = "category, or (whole step)"
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
    SELECT b.block, r.category, sum(r.rank_alone_ns) AS busy_ns
    FROM chosen_rows r JOIN blocked b USING (step) GROUP BY b.block, r.category
)
SELECT block, '(whole step)' AS part, steps, CAST(dur_ns / steps AS DOUBLE) AS busy_ns FROM sized
UNION ALL
SELECT block, category, steps, CAST(busy_ns / steps / (SELECT count(DISTINCT rank) FROM chosen_steps) AS DOUBLE)
FROM ran JOIN sized USING (block)
ORDER BY block, part
