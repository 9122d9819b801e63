-- title = "By name"
-- doc = """Ranges can be nested and overlap, so their times do not add up. Busy is the time in which at least one
-- device of the rank was active while the range was open, whatever launched the work."""
-- cannot = "The program opened no ranges in this trace (NVTX, record_function)."
-- leave_out = ["domain", "max_ns", "mean_ns"]
-- [columns]
-- rank = "process of the job"
-- kind = "nvtx, user (an annotation of the framework's profiler) or library (a call of cuDNN or cuBLAS)"
-- domain = "NVTX domain or library"
-- name = "name, as recorded"
-- calls = "times it was opened"
-- total_ns = "time it was open, calls added up"
-- mean_ns = "mean per call"
-- max_ns = "longest call"
-- busy_ns = "time in which at least one device of the rank was active; empty if the trace has no device work"
-- busy_pct = "of the total"
-- [headings]
-- busy_pct = "of range"
SELECT rank, kind, domain, name, calls, total_ns, mean_ns, max_ns, busy_ns,
    100.0 * busy_ns / nullif(total_ns, 0) AS busy_pct
FROM range_totals
ORDER BY rank, total_ns DESC, kind, domain, name
