-- title = "Chrome JSON: operators"
-- doc = "With the arguments that PyTorch's profiler writes, and under traceview what is derived."
SELECT CAST(json_merge_patch('{}', to_json(
    {ph: 'X', cat: s.recorded_category, name: s.name, pid: s.pid, tid: s.tid, ts: s.ts, dur: s.dur,
        args: {"External id": o.external_id, "Sequence number": o.sequence, "Fwd thread id": o.forward_thread,
        "Input Dims": TRY_CAST(o.shapes AS JSON), "Input Strides": TRY_CAST(o.strides AS JSON),
        "Input type": TRY_CAST(o.types AS JSON), "Concrete Inputs": TRY_CAST(o.inputs AS JSON),
        "Call stack": o.call_stack, "Module Hierarchy": o.module_hierarchy,
        traceview: {category: s.category, algorithm: s.algorithm, direction: s.direction, role: s.role,
            layer: s.layer, step: s.step, op: s.op_name}}})) AS VARCHAR) AS event
FROM export_named s
JOIN ops o ON o.id = s.id
WHERE s.kind = 'op'
