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
-- launch_ns = "time in the calls that launched them; of a graph's launch the part of one of its kernels for each"
-- [headings]
-- short_pct = "of short kernels"
SELECT coalesce(k.op_name, '(no operator)') AS operator, k.category, count(*) AS short,
    100.0 * count(*) / sum(count(*)) OVER () AS short_pct, CAST(sum(k.dur_ns) AS BIGINT) AS total_ns,
    CAST(sum(k.launch_dur_ns) AS BIGINT) AS launch_ns
FROM (
    SELECT op_name, category, k.dur_ns, launch_dur_ns
    FROM kernels k JOIN launch_totals t USING (rank) WHERE t.linked = t.launches
    UNION ALL
    -- Only where a call launched several kernels, on ROCm and with graphs, is it worth finding how many.
    SELECT op_name, category, k.dur_ns, launch_dur_ns / if(launch_id IS NULL, 1, count(*) OVER (PARTITION BY launch_id))
    FROM kernels k JOIN launch_totals t USING (rank) WHERE t.linked > t.launches
) k
WHERE k.dur_ns < $short_ns
GROUP BY k.op_name, k.category
ORDER BY short DESC, operator, category
