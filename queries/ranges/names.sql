-- title = "By name"
-- doc = """Ranges lie inside each other and overlap: their times are no shares of anything. Busy is the union of
-- everything the devices of the rank did while the range was open, whoever caused it."""
-- cannot = "The program named no ranges of its own in this trace (NVTX, record_function)."
-- [columns]
-- rank = "process of the job"
-- kind = "nvtx, user (an annotation of the framework's profiler) or library (a call of cuDNN or cuBLAS)"
-- domain = "NVTX domain or library"
-- name = "name, as recorded"
-- calls = "times it was opened"
-- total_ns = "time that it was open, calls added up"
-- mean_ns = "of a call"
-- max_ns = "of a call"
-- busy_ns = "at least one device of the rank busy; nothing where the trace holds no device's work"
-- busy_pct = "of the total"
SELECT rank, kind, domain, name, calls, total_ns, mean_ns, max_ns, busy_ns,
    100.0 * busy_ns / nullif(total_ns, 0) AS busy_pct
FROM range_totals
ORDER BY rank, total_ns DESC, kind, domain, name
