-- doc = """Cost of every operator call: FLOP and bytes by the models of classify/models.toml, and what it took on the
-- device. One row per call, at the outermost operator that has a model; a convolution without recorded arguments has
-- the shapes that its library or compiled program tells. Behind them copies outside of such calls, primitives of oneDNN
-- that no such call ran, and collectives. A call that was captured in a graph has a row per replay. On ranks with a
-- device, calls that put nothing on it have no row."""
-- materialize = true
-- [columns]
-- op_id = "the operator; of a copy the one that issued it"
-- op_name = "name of the operator, of a copy or of a collective"
-- family = "what it computes: gemm, conv, attention, norm, elementwise ..."
-- direction = "forward or backward; NULL for optimizers, copies, collectives, and where a log does not say"
-- dtype = "fp32, tf32 (where a kernel's name says so), bf16, fp16, fp8 ... of its arguments"
-- matrix_flop = "two per multiply-add of products, convolutions and attention that the mathematics needs"
-- executed_flop = "the same with what the implementation repeats inside the call"
-- vector_flop = "all other arithmetic, by convention"
-- bytes = "each distinct element read once, each result written once; of a collective, bytes on the wire per rank"
-- model = "entry of classify/models.toml"
-- how = "what the cost rests on"
-- reason = "why it is not known"
-- is_recompute = "whether it runs a forward operator again for the backward pass (activation checkpointing)"
-- module = "module it ran for"
-- busy_ns = "durations of everything that it did on the device, at most from its first start to its last end"
WITH named AS MATERIALIZED (
    -- There are few: as a condition it would be asked of each row.
    SELECT name, is_tf32(name) AS is_tf32 FROM (SELECT DISTINCT name FROM performed)
), remade AS (
    -- JAX names what a checkpoint computes again. Where XLA found it to be the first computation it has that name too,
    -- and there is no other.
    SELECT id FROM (
        SELECT id, is_again, row_number() OVER (PARTITION BY rank, step, layer, leaf, output_shapes, is_again
                ORDER BY start_ns, id) AS nth,
            count(nullif(is_again, true)) OVER (PARTITION BY rank, step, layer, leaf, output_shapes) AS n_forward
        FROM (SELECT *, contains(name, '/rematted_computation/') AS is_again, regexp_extract(name, '[^/]*$') AS leaf
            FROM raw.ops WHERE hlo_kind IS NOT NULL)
        WHERE (is_again OR NOT is_backward)
            AND EXISTS (FROM raw.ops WHERE hlo_kind IS NOT NULL AND contains(name, '/rematted_computation/'))
    ) WHERE is_again AND nth <= n_forward
), within AS (
    SELECT o.id AS op_id, c.op_id AS call_id, c.number, c.is_backward,
        c.is_recompute OR c.op_id IN (FROM remade) AS is_recompute
    FROM (SELECT id, rank, pid, tid, start_ns, start_ns + dur_ns AS end_ns FROM raw.ops
        WHERE id IN (SELECT op_id FROM performed)) o
    ASOF JOIN costed.call c ON c.rank = o.rank AND c.pid IS NOT DISTINCT FROM o.pid
        AND c.tid IS NOT DISTINCT FROM o.tid AND o.start_ns >= c.start_ns
    WHERE o.end_ns <= c.end_ns
), replayed AS (
    SELECT id, launch_id FROM raw.kernels WHERE op_link = 'graph'
    UNION ALL SELECT id, launch_id FROM raw.memcpys WHERE op_link = 'graph'
), spent AS (
    SELECT w.call_id, any_value(w.number) AS number, bool_or(w.is_backward) AS is_backward,
        bool_or(w.is_recompute) AS is_recompute, if(r.launch_id IS NULL, NULL, any_value(b.step)) AS step,
        CAST(least(sum(b.dur_ns), max(b.end_ns) - min(b.start_ns)) AS BIGINT) AS busy_ns, any_value(b.layer) AS layer,
        bool_or(b.name IN (SELECT name FROM named WHERE is_tf32)) AS is_tf32
    FROM performed b JOIN within w ON w.op_id = b.op_id JOIN costed.cost k ON k.number = w.number
    LEFT JOIN replayed r ON r.id = b.id
    -- A collective that a product launches is no product, and has a row of its own.
    WHERE b.category <> 'communication' OR k.family = 'collective'
    GROUP BY w.call_id, r.launch_id
), called AS (
    SELECT o.rank, o.id AS op_id, o.name AS op_name, k.family,
        CASE WHEN k.family = 'optimizer' OR o.phase = 'optimizer' THEN NULL
            WHEN s.is_backward AND NOT s.is_recompute THEN 'backward' ELSE coalesce(k.direction, 'forward') END
            AS direction,
        k.dtype AS type, k.matrix_flop, k.executed_flop, k.vector_flop, k.bytes, k.model, k.how, k.reason,
        s.is_recompute, coalesce(o.layer, s.layer) AS layer, coalesce(s.step, o.step) AS step, s.busy_ns, s.is_tf32
    FROM spent s JOIN raw.ops o ON o.id = s.call_id JOIN costed.cost k ON k.number = s.number
), modelled_conv AS (
    SELECT DISTINCT a.call_id
    FROM within w JOIN costed.cost k ON k.number = w.number JOIN attributed.op a ON a.id = w.call_id
    WHERE k.reason IS NULL AND NOT starts_with(k.model, 'XLA')
), convolved AS (
    SELECT v.rank, v.op_id, v.op_name, 'conv' AS family, if(v.direction IN ('dgrad', 'wgrad'), 'backward', 'forward')
            AS direction, v.dtype AS type, v.flop AS matrix_flop, v.flop AS executed_flop, 0 AS vector_flop,
        TRY_CAST(convolution_bytes(v.input_shape, v.filter_shape, v.output_shape, v.element_bytes) AS BIGINT) AS bytes,
        'convolution' AS model,
        'shapes of the library, the compiled program or the other pass' AS how, CAST(NULL AS VARCHAR) AS reason,
        coalesce(v.op_id IN (FROM remade), false) AS is_recompute, v.layer, v.step, v.total_ns AS busy_ns,
        list_bool_or(list_transform(v.evidence, lambda name: is_tf32(name))) AS is_tf32
    FROM conv_calls v WHERE v.flop IS NOT NULL AND NOT EXISTS (FROM modelled_conv m WHERE m.call_id = v.op_id)
), copied AS (
    SELECT m.rank, m.op_id, m.name AS op_name,
        CASE m.direction WHEN 'memset' THEN 'fill' WHEN 'DtoD' THEN 'copy' ELSE 'transfer' END AS family,
        CAST(NULL AS VARCHAR) AS direction, CAST(NULL AS VARCHAR) AS type, 0 AS matrix_flop, 0 AS executed_flop,
        0 AS vector_flop, m.size_bytes * if(m.direction = 'DtoD', 2, 1) AS bytes, 'copy' AS model,
        'the profiler''s record' AS how, if(m.size_bytes IS NULL, 'its size is not recorded', NULL) AS reason,
        false AS is_recompute, m.layer, m.step, m.dur_ns AS busy_ns, false AS is_tf32
    FROM raw.memcpys m LEFT JOIN within w ON w.op_id = m.op_id WHERE w.call_id IS NULL
), primed AS (
    -- Primitives of oneDNN that ran for no operator with a cost.
    SELECT w.rank, w.op_id, p.op_name, k.family, p.direction, k.dtype AS type, k.matrix_flop, k.executed_flop,
        k.vector_flop, k.bytes, k.model, k.how, k.reason, false AS is_recompute, w.layer, w.step, w.dur_ns AS busy_ns,
        false AS is_tf32
    FROM performed w JOIN costed.primitive p ON p.id = w.id JOIN costed.cost k ON k.number = p.number
    LEFT JOIN within i ON i.op_id = w.op_id
    WHERE w.kind = 'primitive' AND w.call_id IS NULL AND i.call_id IS NULL
), exchanged AS (
    -- Least bytes that a rank has to send: NCCL tests, PERFORMANCE.md.
    SELECT l.rank, k.op_id, l.name AS op_name, 'collective' AS family, CAST(NULL AS VARCHAR) AS direction,
        l.dtype AS type, 0 AS matrix_flop, 0 AS executed_flop, 0 AS vector_flop,
        CAST(if(l.group_size < 2, 0, CASE collective_kind(l.kind)
            WHEN 'all_reduce' THEN 2.0 * (l.group_size - 1) / l.group_size WHEN 'all_gather' THEN l.group_size - 1.0
            WHEN 'reduce_scatter' THEN 1.0 * (l.group_size - 1) / l.group_size
            WHEN 'all_to_all' THEN 1.0 * (l.group_size - 1) / l.group_size
            ELSE 1 END) * l.size_bytes AS BIGINT) AS bytes, 'collective' AS model, 'the profiler''s record' AS how,
        if(bytes IS NULL, 'bytes or ranks are not recorded', NULL) AS reason,
        false AS is_recompute, k.layer, k.step, coalesce(k.dur_ns, l.dur_ns) AS busy_ns, false AS is_tf32
    FROM raw.collectives l LEFT JOIN raw.kernels k ON k.id = l.kernel_id
), every AS (
    SELECT * FROM called c WHERE c.reason IS NULL AND NOT starts_with(c.model, 'XLA')
        OR c.op_id NOT IN (SELECT id FROM attributed.op WHERE call_id IN (SELECT op_id FROM convolved))
    UNION ALL BY NAME FROM convolved UNION ALL BY NAME FROM copied UNION ALL BY NAME FROM primed
    UNION ALL BY NAME FROM exchanged
)
SELECT rank, op_id, op_name, family, direction,
    if(is_tf32 AND family IN ('gemm', 'conv', 'attention', 'rnn') AND coalesce(arithmetic(type), 'fp32') = 'fp32',
        'tf32', arithmetic(type)) AS dtype,
    matrix_flop, vector_flop, bytes, model, how, is_recompute, layer, layer AS module, step, busy_ns, executed_flop,
    reason
FROM every
