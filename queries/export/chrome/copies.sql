-- title = "Chrome JSON: memory copies and memsets"
-- doc = "With the arguments that PyTorch's profiler writes, and under traceview what is derived."
SELECT CAST(json_merge_patch('{}', to_json(
    {ph: 'X', cat: s.recorded_category, name: s.name, pid: s.pid, tid: s.tid, ts: s.ts, dur: s.dur,
        args: {device: m.device, stream: m.stream, correlation: m.correlation, bytes: m.size_bytes,
        fromDevice: m.src_device, toDevice: m.dst_device,
        "memory bandwidth (GB/s)": if(m.dur_ns > 0, round(m.size_bytes / m.dur_ns, 3), NULL),
        traceview: {category: s.category, algorithm: s.algorithm, direction: s.direction, role: s.role,
            layer: s.layer, step: s.step, op: s.op_name}}})) AS VARCHAR) AS event
FROM export_named s
JOIN memcpys m ON m.id = s.id
WHERE s.kind = 'copy'
