-- title = "Names that no rule claims"
-- doc = """Kernels, primitives and operators of category other, over the whole recording, most device time first. A
-- rule for one goes into traceview/classify."""
-- cannot = "Every name has a category."
-- [columns]
-- kind = "kernel, copy, primitive or op"
-- name = "as recorded"
-- operator = "operator that launched it most often"
-- calls = "in the recording"
-- busy_ns = "device time, overlaps counted once"
-- busy_pct = "of all device time"
SELECT kind, name, mode(op_name) AS operator, count(DISTINCT id) AS calls, CAST(sum(alone_ns) AS BIGINT) AS busy_ns,
    100.0 * sum(alone_ns) / nullif((SELECT sum(alone_ns) FROM busy), 0) AS busy_pct
FROM busy
WHERE category = 'other'
GROUP BY kind, name
ORDER BY busy_ns DESC, kind, name
