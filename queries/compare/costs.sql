-- title = "Costs of operators"
-- doc = """By family, of calls whose cost is known: whether a run computes as much as A, and how fast. Work is matrix
-- FLOP, with what is computed again; of families without any, bytes. Work within 1 % counts as equal."""
-- cannot = "There is only one run, or no operator with a known cost in any."
-- leave_out = ["base_size_bytes", "size_bytes", "base_matrix_flop_per_s", "matrix_flop_per_s"]
-- [columns]
-- run = "run"
-- family = "what the operators compute"
-- base_flop = "matrix FLOP of A"
-- matrix_flop = "of the run"
-- base_size_bytes = "least traffic of A"
-- size_bytes = "of the run"
-- base_ns = "time of A"
-- busy_ns = "time of the run"
-- diff_ns = "difference"
-- work_ratio = "work of the run over A's"
-- speed_ratio = "work per time of the run over A's"
-- base_matrix_flop_per_s = "matrix FLOP of A over time"
-- matrix_flop_per_s = "of the run"
-- cause = """speed: as much work at another speed (kernels, device, clock); work: another amount (model, batch, length
-- of sequences, recomputation); both; known in one alone: what the other ran of it, if anything, has no known cost"""
WITH side AS (
    SELECT p.run, p.label, c.family, sum(c.matrix_flop) FILTER (c.run = 0) AS base_flop,
        sum(c.matrix_flop) FILTER (c.run > 0) AS matrix_flop, sum(c.bytes) FILTER (c.run = 0) AS base_bytes,
        sum(c.bytes) FILTER (c.run > 0) AS bytes, coalesce(sum(c.busy_ns) FILTER (c.run = 0), 0) AS base_ns,
        coalesce(sum(c.busy_ns) FILTER (c.run > 0), 0) AS busy_ns
    FROM pair p JOIN cost c ON c.run IN (0, p.run)
    GROUP BY ALL
), held AS (
    SELECT *, if(base_flop > 0 OR matrix_flop > 0, matrix_flop / nullif(base_flop, 0), bytes / nullif(base_bytes, 0))
            AS work_ratio,
        work_ratio * base_ns / nullif(busy_ns, 0) AS speed_ratio
    FROM side
)
SELECT label AS run, family, base_flop, matrix_flop, base_bytes AS base_size_bytes, bytes AS size_bytes, base_ns,
    busy_ns, busy_ns - base_ns AS diff_ns, work_ratio, speed_ratio,
    1e9 * base_flop / nullif(base_ns, 0) AS base_matrix_flop_per_s,
    1e9 * matrix_flop / nullif(busy_ns, 0) AS matrix_flop_per_s,
    CASE WHEN base_ns = 0 THEN 'known in the run alone' WHEN busy_ns = 0 THEN 'known in A alone'
        WHEN work_ratio IS NULL THEN NULL
        WHEN abs(work_ratio - 1) <= 0.01 THEN if(abs(speed_ratio - 1) <= 0.01, NULL, 'speed')
        ELSE if(abs(speed_ratio - 1) <= 0.01, 'work', 'both') END AS cause
FROM held
ORDER BY held.run, abs(busy_ns - base_ns) DESC, family
