-- title = "Autograd profiler: rows of a device"
-- doc = "Until the file is read whole: which of them hold others, and whose they are, only all of them tell."
SELECT id, start_ns, dur_ns, tid AS device, tid AS stream, name, CAST(NULL AS BIGINT) AS external_id,
    CAST(NULL AS VARCHAR) AS recorded_op
FROM event
WHERE ph = 'X' AND pid IN (hash('CUDA functions') >> 33, hash('NPU functions') >> 33, hash('GPU functions') >> 33)
    AND dur_ns IS NOT NULL AND start_ns IS NOT NULL
