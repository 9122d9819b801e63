-- title = "Short kernels"
-- doc = "By operator: kernels so short that launching them costs as much. Over the whole recording."
-- cannot = "No kernel below the limit in this trace."
-- [params]
-- short_ns = { type = "BIGINT", default = 10000, doc = "a kernel is short below this duration" }
-- [columns]
-- operator = "operator that launched them"
-- category = "what they do"
-- short = "kernels below the limit"
-- short_pct = "of all kernels below the limit"
-- total_ns = "sum of their durations"
-- launch_ns = "time in the calls that launched them"
SELECT coalesce(k.op_name, '(no operator)') AS operator, k.category, count(*) AS short,
    100.0 * count(*) / sum(count(*)) OVER () AS short_pct, CAST(sum(k.dur_ns) AS BIGINT) AS total_ns,
    CAST(sum(k.launch_dur_ns) AS BIGINT) AS launch_ns
FROM kernels k
WHERE k.dur_ns < $short_ns
GROUP BY k.op_name, k.category
ORDER BY short DESC, operator, category
