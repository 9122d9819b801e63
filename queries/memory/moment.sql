-- title = "The peak"
-- doc = """When most was allocated, and by what. On a GPU it is what PyTorch's allocator counts, with what was there
-- before the recording; on a CPU what was allocated since recording began, and what `traceview collect` noted then."""
-- cannot = """No allocations of a framework were recorded (PyTorch: profile_memory=True, or traceview collect
-- --allocations)."""
-- leave_out = ["line", "pieces", "layer", "at_ns", "phase"]
-- [columns]
-- rank = "process of the job"
-- device = "device number; empty for the host"
-- peak_bytes = "bytes allocated at the peak"
-- before_bytes = "of it from before the recording, without an event of its own"
-- noted_bytes = "of it parameters, buffers, gradients and optimizer state that traceview collect noted"
-- pieces = "allocations alive then, counted ones"
-- at_ns = "when, since the capture's origin; empty where it was most when recording began"
-- step = "step in which it was"
-- phase = "phase of the operator that reached it"
-- op = "operator that reached it"
-- layer = "its layer"
-- line = "line of the user's own code"
SELECT p.rank, p.device, p.peak_bytes, CAST(sum(a.size_bytes) FILTER (a.how = 'before') AS BIGINT) AS before_bytes,
    CAST(sum(a.size_bytes) FILTER (a.how = 'noted') AS BIGINT) AS noted_bytes,
    count(*) FILTER (a.how NOT IN ('before', 'difference')) AS pieces, p.at_ns, p.step, p.phase, p.op_name AS op,
    p.layer,
    p.file || ':' || CAST(p.line AS VARCHAR) AS line
FROM memory_peaks p
LEFT JOIN alive_at_peak a ON a.rank = p.rank AND a.device IS NOT DISTINCT FROM p.device
GROUP BY ALL
ORDER BY rank, device
