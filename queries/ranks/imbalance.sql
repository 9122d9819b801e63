-- title = "Imbalance by category"
-- doc = """Time {per step|in the recording} on a device of each rank that communicates: minimum, median and maximum
-- over these ranks. They wait for the one that computes longest, so the maximum less the median is about what a
-- better balance could save. Work counts whole also where it runs beside other work: beside a collective that waits it
-- is no less. Communication (what no earlier work covers) and idle time come last: they contain the waiting."""
-- cannot = """One rank, no communication, or calls that do not say their group: nothing shows that ranks wait for each
-- other."""
-- leave_out = ["least_rank"]
-- [columns]
-- category = "what ran; docs/vocabulary.md"
-- least_ns = "least of these ranks"
-- least_rank = "the rank with the least"
-- median_ns = "median of these ranks"
-- most_ns = "most of these ranks"
-- most_rank = "the rank with the most"
-- excess_ns = "most less median"
-- excess_pct = "of the median step"
-- [headings]
-- excess_pct = "excess of {step|recording}"
WITH ran AS (
    SELECT rank, category, sum(if(category = 'communication', alone_ns, total_ns) / per) AS busy_ns FROM totals
    WHERE is_counted OR is_carried GROUP BY rank, category
    UNION ALL
    SELECT rank, '(idle)', sum(idle_ns) FROM account GROUP BY rank
), member AS (
    SELECT DISTINCT rank FROM matched_calls WHERE n_expected > 1 AND rank IN (SELECT rank FROM account)
), share AS (
    SELECT s.rank, c.category, coalesce(any_value(r.busy_ns), 0) AS busy_ns
    FROM member s CROSS JOIN (SELECT DISTINCT category FROM ran) c
    LEFT JOIN ran r ON r.rank = s.rank AND r.category = c.category
    GROUP BY s.rank, c.category
)
SELECT category, min(busy_ns) AS least_ns, arg_min(rank, [busy_ns, rank]) AS least_rank, median(busy_ns) AS median_ns,
    max(busy_ns) AS most_ns, arg_max(rank, [busy_ns, -rank]) AS most_rank, max(busy_ns) - median(busy_ns) AS excess_ns,
    100.0 * (max(busy_ns) - median(busy_ns)) / (SELECT median(step_ns) FROM scope JOIN member USING (rank)
        WHERE step_ns > 0) AS excess_pct
FROM share
GROUP BY category
HAVING count(*) > 1
ORDER BY category IN ('communication', '(idle)'), excess_ns DESC, category
