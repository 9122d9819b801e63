-- title = "Operators out of the NVTX ranges that frameworks write"
-- doc = """A framework that marks its operators says in the name of a range what it runs: PyTorch under
-- torch.autograd.profiler.emit_nvtx (`aten::conv2d, seq = 5, op_id = 9, sizes = [[8, 3, 32, 32], [6, 3, 5, 5], []]`;
-- before 1.5 `conv2d, seq = 5`), PyProf and DLProf (a dictionary of module, function and arguments), TensorFlow in
-- NVIDIA's builds (`Conv2D: conv1/Conv2D`, or a dictionary, in the domain tensorflow-core), TensorRT (its layers, each
-- named after the operators in it: `/conv1/Conv + /relu/Relu`). The ranges stay. A bare name counts as PyTorch's only
-- with a sequence number and without op_id: with one it is a range of the user's."""
WITH said AS (
    SELECT id, pid, tid, start_ns, dur_ns, name,
        CASE WHEN domain = 'tensorflow-core' AND regexp_matches(name, '^\w+: [^ ]+$') THEN 'graph'
            WHEN domain = 'tensorflow-core' AND starts_with(name, '{"op":"') THEN 'graph dictionary'
            -- They run on a device: where none was recorded, the host's time to start them is not theirs.
            WHEN domain = 'TensorRT' AND NOT contains(name, '::') AND EXISTS (FROM stage.kernels) THEN 'engine layer'
            WHEN regexp_matches(name, '^\{[''"]mod[''"]: [''"][\w.]+[''"], [''"]op[''"]: [''"]\w+[''"]') THEN 'call'
            -- What begins with a capital is a method of a class, such as TensorRT's ExecutionContext::execute.
            WHEN regexp_matches(name, '^([a-z_]\w*::[\w:.]+|\w*Backward\d*|autograd::engine::evaluate_function: [\w:]+)'
                || '(, (seq|op_id|sizes) = |$)') AND NOT regexp_matches(name, '^(std|thrust|cub)::') THEN 'operator'
            WHEN regexp_matches(name, '^[a-z_][a-z0-9_]*, seq = \d+(, sizes = |$)') THEN 'bare operator'
        END AS form
    FROM stage.ranges WHERE kind = 'nvtx' AND tid IS NOT NULL
), told AS (
    -- A dictionary as Python prints it, or TensorFlow's, which is JSON.
    SELECT *, CASE
            WHEN form = 'call' THEN TRY_CAST(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
                translate(name, '''()', '"[]'), ',\s*\]', ']', 'g'), '\bNone\b', 'null', 'g'), '\bTrue\b', 'true', 'g'),
                '\bFalse\b', 'false', 'g') AS JSON)
            WHEN form = 'graph dictionary' THEN TRY_CAST(name AS JSON) END AS said,
        TRY_CAST(nullif(regexp_extract(name, ', seq = (\d+)', 1), '') AS BIGINT) AS number
    FROM said WHERE form IS NOT NULL
), listed AS (
    SELECT *, TRY_CAST(json_extract(said, '$.args') AS JSON[]) AS args FROM told
), named AS (
    SELECT id, pid, tid, start_ns, dur_ns,
        CASE form
            WHEN 'graph' THEN regexp_replace(name, '^(\w+): (.+)$', '\2:\1')
            WHEN 'graph dictionary' THEN regexp_extract(name, '"name":"([^"]*)"', 1) || ':'
                || regexp_extract(name, '"op":"([^"]*)"', 1)
            WHEN 'call' THEN regexp_replace(regexp_extract(name, '[''"]([\w.]+)[''"], ', 1) || '.'
                || regexp_extract(name, '[''"]op[''"]: [''"](\w+)', 1), '^Tensor\.', 'torch.Tensor.')
            -- The kind of the first operator in it: the end of its path.
            WHEN 'engine layer' THEN name || coalesce(':' || if(
                regexp_matches(name, '^Reformatting | reformatter \d+$'), 'Reformat',
                nullif(regexp_extract(split_part(name, ' + ', 1), '([A-Za-z]\w*?)(_\d+)?$', 1), '')), '')
            WHEN 'bare operator' THEN 'aten::' || regexp_extract(name, '^\w+')
            ELSE regexp_extract(name, '^(.*?)(, (seq|op_id|sizes) = |$)', 1) END AS name,
        if(form IN ('operator', 'bare operator'), number, NULL) AS sequence,
        -- TensorFlow's scopes, a gradient's as those of the operator that it is of.
        CASE WHEN form = 'engine layer' THEN name
            WHEN starts_with(form, 'graph') THEN nullif(regexp_replace(regexp_extract(name,
            '(?:^\w+: |"name":")(?:training/\w+/)?(?:gradients?(?:_tape)?/)?([^"]*)', 1),
            '(/[^/]+_grad(_\d+)?)?/[^/]+$|^[^/]*$', ''), '') END AS module_hierarchy,
        if(args IS NULL,
            TRY_CAST(nullif(regexp_extract(name, ', sizes = (\[.*?\])(, input_op_ids = |$)', 1), '') AS JSON),
            to_json(list_transform(args, lambda a: coalesce(TRY_CAST(a->'$.shape' AS BIGINT[]), [])))) AS shapes,
        if(form = 'call', to_json(list_transform(args, lambda a: coalesce(a->>'$.dtype', ''))), NULL) AS types,
        if(form = 'call', to_json(list_transform(args, lambda a: coalesce(a->>'$.value', ''))), NULL) AS inputs
    FROM listed
), backward AS (
    SELECT *, regexp_matches(name, 'Backward\d*$|^autograd::engine::|^torch::autograd::') AS is_backward FROM named
), made AS (
    SELECT pid, sequence, arg_max(tid, start_ns) AS tid FROM backward
    WHERE NOT is_backward AND sequence IS NOT NULL GROUP BY pid, sequence
)
-- Above the number of every recorded event, below those of steps that were worked out.
SELECT (CAST(1 AS BIGINT) << 38) + b.id AS id, b.pid, b.tid, b.start_ns, b.dur_ns, b.name, b.sequence,
    CAST(b.shapes AS VARCHAR) AS shapes, CAST(b.types AS VARCHAR) AS types, CAST(b.inputs AS VARCHAR) AS inputs,
    b.module_hierarchy, if(b.is_backward, m.tid, NULL) AS forward_thread
FROM backward b LEFT JOIN made m ON m.pid IS NOT DISTINCT FROM b.pid AND m.sequence = b.sequence
