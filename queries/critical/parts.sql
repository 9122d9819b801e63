-- title = "What the path consists of"
-- doc = "Adds up to the step. A launch is on the path from the start of the call to the start of the kernel."
-- cannot = "Nothing that takes time was recorded: no critical path."
-- leave_out = ["pieces", "all_ns"]
-- [columns]
-- part = "device, communication, host, launch, data loading, device waits or edge of the step"
-- what = "category of work, or kind of wait"
-- pieces = "pieces of the path"
-- dur_ns = "their time"
-- path_pct = "of the path"
-- all_ns = """time of all tasks of this category in the {step|recording}, on the path or not, those at once counted
-- each; empty for data loading, of which much lies between its tasks"""
-- [headings]
-- path_pct = "of path"
-- all_ns = "all of it"
WITH task AS (
    SELECT category, sum(end_ns - start_ns) AS all_ns FROM critical_task GROUP BY category
)
SELECT p.part, p.what, count(*) AS pieces, CAST(sum(p.dur_ns) AS BIGINT) AS dur_ns,
    100.0 * sum(p.dur_ns) / nullif(sum(sum(p.dur_ns)) OVER (), 0) AS path_pct,
    CAST(any_value(t.all_ns) AS BIGINT) AS all_ns
FROM critical_part p LEFT JOIN task t ON t.category = p.what AND p.part <> 'data loading'
GROUP BY p.part, p.what
ORDER BY sum(p.dur_ns) DESC, p.part, p.what
