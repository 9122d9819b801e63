-- title = "What is counted"
-- doc = """Memory of the machine that the process held (resident size), as `traceview collect` noted it before and
-- after the recording, beside what the profiler counts on the host: allocations of tensors since it began, and what was
-- noted then. The rest is the program, its libraries, their scratchpads, and pages that the allocator keeps."""
-- cannot = "The resident size was not noted (traceview collect notes it on Linux)."
-- leave_out = ["grown_bytes", "most_bytes"]
-- [columns]
-- rank = "process of the job"
-- start_bytes = "resident when recording began"
-- end_bytes = "resident when it ended"
-- grown_bytes = "difference: with what the profiler itself keeps of its events"
-- most_bytes = "most that was resident until then, in the whole life of the process"
-- noted_bytes = "parameters, buffers, gradients and optimizer state on the host, noted (collect --allocations)"
-- peak_bytes = "most that the profiler counts on the host, with what was noted"
-- other_bytes = "resident when recording began, without what was noted: not counted anywhere"
SELECT p.rank, p.resident_start_bytes AS start_bytes, p.resident_end_bytes AS end_bytes,
    p.resident_end_bytes - p.resident_start_bytes AS grown_bytes, p.resident_most_bytes AS most_bytes,
    CAST(n.noted_bytes AS BIGINT) AS noted_bytes, m.peak_bytes,
    CAST(p.resident_start_bytes - coalesce(n.noted_bytes, 0) AS BIGINT) AS other_bytes
FROM processes p
LEFT JOIN (SELECT rank, sum(size_bytes) AS noted_bytes FROM allocations WHERE how = 'noted' AND device IS NULL
    GROUP BY rank) n USING (rank)
LEFT JOIN memory_peaks m ON m.rank = p.rank AND m.device IS NULL
WHERE p.resident_start_bytes IS NOT NULL
ORDER BY p.rank
