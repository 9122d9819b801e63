-- title = "Short kernels"
-- doc = "By operator: kernels so short that launching them costs as much. Over the whole recording."
-- cannot = "No kernel below the limit in this trace."
-- leave_out = ["launch_ns", "category"]
-- [params]
-- short_ns = { type = "BIGINT", default = 10000, doc = "a kernel is short below this duration" }
-- [columns]
-- operator = "operator that launched them"
-- category = "what they do"
-- short = "kernels below the limit"
-- short_pct = "of all kernels below the limit"
-- total_ns = "sum of their durations"
-- launch_ns = "time in the calls that launched them, each once"
-- [headings]
-- short_pct = "of short kernels"
SELECT coalesce(k.op_name, '(no operator)') AS operator, k.category, count(*) AS short,
    100.0 * count(*) / sum(count(*)) OVER () AS short_pct, CAST(sum(k.dur_ns) AS BIGINT) AS total_ns,
    CAST(sum(k.launch_dur_ns) FILTER (k.position = 1) AS BIGINT) AS launch_ns
FROM (
    SELECT op_name, category, k.dur_ns, launch_dur_ns, 1 AS position
    FROM kernels k JOIN launch_totals t USING (rank) WHERE k.dur_ns < $short_ns AND t.linked = t.launches
    UNION ALL
    -- Only where a call launched several kernels, on ROCm and with graphs, is it worth finding the first of each.
    SELECT op_name, category, k.dur_ns, launch_dur_ns,
        row_number() OVER (PARTITION BY launch_id, op_name, category ORDER BY start_ns, id)
    FROM kernels k JOIN launch_totals t USING (rank) WHERE k.dur_ns < $short_ns AND t.linked > t.launches
) k
GROUP BY k.op_name, k.category
ORDER BY short DESC, operator, category
