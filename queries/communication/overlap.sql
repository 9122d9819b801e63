-- title = "What overlap costs"
-- doc = """Kernels of one name that were launched alike for the same shapes, while the rank communicates (for at least
-- nine tenths of the kernel) and while it does not: communication takes processors and memory bandwidth from what it
-- runs beside. Only kernels with three calls of either kind count. Where they are slower, the price of communication is
-- what it exposes and what it slows; what differs besides communication (other data, a colder cache) is in these
-- numbers, too."""
-- cannot = "No kernel ran three times beside communication and three times without: what overlap costs is not known."
-- optional = true
-- leave_out = ["kernels", "alone", "high", "low"]
-- [columns]
-- rank = "process of the job"
-- kernels = "kernels and shapes compared"
-- alone = "their calls without communication beside them"
-- beside = "their calls beside communication"
-- covered_pct = "their time beside communication, of all computing time beside it"
-- slower = "times as long beside communication as without: total over what the means without give"
-- low = "lower end of its interval of 95 %, from the spread of the calls"
-- high = "upper end"
-- extra_ns = "what these calls took longer"
-- exposed_ns = "communication while nothing computed"
-- price_ns = "both, where the interval is above 1"
-- verdict = "slower, faster or no difference seen, by the interval"
-- [headings]
-- covered_pct = "covers of computing beside"
WITH sent AS (
    SELECT rank, start_ns, end_ns, max(end_ns) OVER (PARTITION BY rank ORDER BY start_ns, end_ns DESC, id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until_ns
    FROM exchanges
), piece AS (
    SELECT rank, greatest(start_ns, coalesce(until_ns, start_ns)) AS start_ns, end_ns
    FROM sent WHERE until_ns IS NULL OR end_ns > until_ns
), placed AS (
    SELECT *, coalesce(sum(end_ns - start_ns) OVER (PARTITION BY rank ORDER BY start_ns
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before_ns
    FROM piece
), kernel AS (
    SELECT k.id, k.rank, k.start_ns, k.end_ns, k.dur_ns,
        hash(k.name, k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z, k.shared_bytes, o.shapes, o.types)
            AS alike
    FROM kernels k LEFT JOIN raw.ops o ON o.id = k.op_id
    WHERE k.category <> 'communication' AND k.dur_ns > 0 AND k.rank IN (SELECT rank FROM sent)
), begun AS (
    SELECT k.*, coalesce(p.before_ns + least(k.start_ns, p.end_ns) - p.start_ns, 0) AS sent_before_ns
    FROM kernel k ASOF LEFT JOIN placed p ON p.rank = k.rank AND k.start_ns >= p.start_ns
), judged AS (
    SELECT k.rank, k.alike, k.dur_ns,
        coalesce(p.before_ns + least(k.end_ns, p.end_ns) - p.start_ns, 0) - k.sent_before_ns AS beside_ns
    FROM begun k ASOF LEFT JOIN placed p ON p.rank = k.rank AND k.end_ns >= p.start_ns
), called AS (
    SELECT rank, alike, count(*) FILTER (beside_ns = 0) AS n_alone, avg(dur_ns) FILTER (beside_ns = 0) AS alone_ns,
        coalesce(var_samp(dur_ns) FILTER (beside_ns = 0), 0) AS alone_var,
        count(*) FILTER (beside_ns >= 0.9 * dur_ns) AS n_beside,
        sum(dur_ns) FILTER (beside_ns >= 0.9 * dur_ns) AS sum_ns,
        coalesce(var_samp(dur_ns) FILTER (beside_ns >= 0.9 * dur_ns), 0) AS beside_var
    FROM judged GROUP BY rank, alike
), summed AS (
    SELECT rank, count(*) AS kernels, sum(n_alone) AS alone, sum(n_beside) AS beside, sum(sum_ns) AS sum_ns,
        sum(n_beside * alone_ns) AS alone_ns, sum(n_beside * beside_var) / sum(sum_ns) ** 2
            + sum(n_beside ** 2 * alone_var / n_alone) / sum(n_beside * alone_ns) ** 2 AS relative_var
    FROM called WHERE n_alone >= 3 AND n_beside >= 3 GROUP BY rank
)
SELECT s.rank, s.kernels, CAST(s.alone AS BIGINT) AS alone, CAST(s.beside AS BIGINT) AS beside,
    100.0 * s.sum_ns / nullif(j.beside_ns, 0) AS covered_pct, s.sum_ns / s.alone_ns AS slower,
    slower * exp(-1.96 * sqrt(s.relative_var)) AS low, slower * exp(1.96 * sqrt(s.relative_var)) AS high,
    CAST(s.sum_ns - s.alone_ns AS BIGINT) AS extra_ns, e.exposed_ns,
    if(low > 1, e.exposed_ns + extra_ns, NULL) AS price_ns,
    CASE WHEN low > 1 THEN 'slower' WHEN high < 1 THEN 'faster' ELSE 'no difference seen' END AS verdict
FROM summed s
JOIN (SELECT rank, sum(dur_ns) FILTER (beside_ns > 0) AS beside_ns FROM judged GROUP BY rank) j ON j.rank = s.rank
JOIN (SELECT rank, CAST(sum(exposed_ns) AS BIGINT) AS exposed_ns FROM exchanges GROUP BY rank) e ON e.rank = s.rank
ORDER BY s.rank
