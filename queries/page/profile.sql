-- title = "Tree of operators"
-- doc = """Kind of operator, operator and pass, module: time on devices, arithmetic by the models, and how much of what
-- the roofline allows is reached (empty where a peak or a cost is not known, or more was reached than peaks allow). The
-- 120 parts with most time. Shares are of all device time: what no operator with a model did is not in the tree."""
-- cannot = "No operator whose cost is modelled in this trace."
-- [chart]
-- kind = "tree"
-- path = "path"
-- [columns]
-- path = "kind, operator and pass, module"
-- calls = "calls per step"
-- busy_ns = "device time per step"
-- share_pct = "of all device time"
-- needed_flop = "arithmetic of what the mathematics needs, per step; empty where a call's cost is not known"
-- achieved_flop_per_s = "the same over that time"
-- attainable_pct = "time that the roofline allows, of the time taken, of calls where it is known"
-- [headings]
-- share_pct = "of device time"
-- attainable_pct = "of attainable"
WITH call AS (
    SELECT *, concat_ws(', ', op_name, direction) AS operator,
        if(reason IS NULL, coalesce(matrix_flop, 0) + coalesce(vector_flop, 0), NULL) AS flop,
        if(reason IS NULL, floor_ns, NULL) AS known_ns
    FROM op_rooflines
), part AS (
    SELECT family, operator, module, grouping(operator) AS is_family, grouping(module) AS is_whole,
        sum(1 / per_rank) AS calls, sum(busy_ns / per_rank) AS busy_ns, sum(busy_ns) AS all_ns,
        if(count(flop) = count(*), sum(flop / per_rank), NULL) AS needed_flop, sum(known_ns) AS known_ns,
        sum(busy_ns) FILTER (known_ns IS NOT NULL) AS rated_ns
    FROM call GROUP BY GROUPING SETS ((family), (family, operator), (family, operator, module))
)
SELECT CASE WHEN is_family = 1 THEN [family] WHEN is_whole = 1 THEN [family, operator]
        ELSE [family, operator, module] END AS path,
    round(calls, 6) AS calls, busy_ns, 100.0 * all_ns / (SELECT nullif(sum(total_ns), 0) FROM covered) AS share_pct,
    nullif(needed_flop, 0) AS needed_flop, 1e9 * nullif(needed_flop, 0) / nullif(busy_ns, 0) AS achieved_flop_per_s,
    if(known_ns > rated_ns, NULL, 100.0 * known_ns / nullif(rated_ns, 0)) AS attainable_pct
FROM part WHERE is_whole = 1 OR module IS NOT NULL
ORDER BY busy_ns DESC, len(path), path
LIMIT 120
