-- title = "Chrome JSON: everything else with a start and an end"
-- doc = "Ranges, primitives, steps, convolution calls, idle gaps and the critical path, with what is derived."
SELECT CAST(json_merge_patch('{}', to_json(
    {ph: 'X', cat: s.recorded_category, name: s.name, pid: s.pid, tid: s.tid, ts: s.ts, dur: s.dur,
        args: {traceview: {category: s.category, algorithm: s.algorithm, direction: s.direction, role: s.role,
            layer: s.layer, step: s.step, op: s.op_name}}})) AS VARCHAR) AS event
FROM export_named s
WHERE s.kind IN ('range', 'primitive', 'step', 'conv_call', 'idle', 'critical')
