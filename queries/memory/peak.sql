-- title = "Peak"
-- doc = """Over the whole recording, per counter of bytes. Reserved memory is what the framework's allocator holds;
-- allocated is what tensors use."""
-- cannot = "No counter of memory was recorded (PyTorch: profile with profile_memory=True)."
-- leave_out = ["samples", "first_bytes", "peak_step", "peak_at_ns", "last_bytes"]
-- [columns]
-- rank = "process of the job"
-- device = "device number; empty for the host"
-- counter = "counter, as recorded"
-- samples = "samples"
-- first_bytes = "at the first sample"
-- peak_bytes = "largest"
-- last_bytes = "at the last sample"
-- peak_step = "step in which it was largest"
-- peak_at_ns = "when, since the capture's origin"
-- memory_pct = "peak, of the device's memory"
-- [headings]
-- memory_pct = "of device memory"
WITH peak AS (
    SELECT c.rank, c.device, c.name, count(*) AS samples, arg_min(value, (start_ns, id)) AS first_bytes,
        max(value) AS peak_bytes, arg_max(value, (start_ns, id)) AS last_bytes,
        arg_min(start_ns, (-value, start_ns)) AS peak_at_ns
    FROM counters c WHERE c.name LIKE '%\_bytes' ESCAPE '\' GROUP BY c.rank, c.device, c.name
)
SELECT p.rank, p.device, p.name AS counter, samples, first_bytes, peak_bytes, last_bytes,
    (SELECT min(s.step) FROM step_times s
        WHERE s.rank = p.rank AND s.start_ns <= p.peak_at_ns AND p.peak_at_ns < s.end_ns) AS peak_step,
    peak_at_ns, 100.0 * peak_bytes / nullif(d.memory_bytes, 0) AS memory_pct
FROM peak p LEFT JOIN raw.devices d ON d.rank = p.rank AND d.device = p.device
ORDER BY rank, device, counter
