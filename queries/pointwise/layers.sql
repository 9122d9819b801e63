-- title = "By layer and library"
-- doc = """{Per step and rank|Over the whole recording, per rank}; the first rows are over all layers. A fused row
-- counts calls whose bias or activation is computed by another kernel or primitive; its time is unknown, not zero, and
-- left empty."""
-- cannot = "No bias addition or activation was recorded."
-- leave_out = ["time_ns", "library"]
-- [columns]
-- layer = "layer; without layers the filter's shape or the operator; (all layers) is their sum"
-- work = "bias, bias gradient, activation or activation gradient"
-- library = "library that implements it"
-- form = "unfused, operator (on a CPU), epilogue kernel (of a matrix product) or fused"
-- calls = "{per step|in the recording}"
-- time_ns = """what its pieces lasted{, per step| in the recording}; more than busy where other work of the device
-- began before and ran beside it"""
-- busy_ns = "device time {per step|in the recording}, overlaps counted once, for what started first"
-- busy_pct = "of all device time"
-- [headings]
-- busy_pct = "of device time"
-- [fractions]
-- calls = "calls{/step| (mean)}"
WITH every AS (
    SELECT * FROM counted
), host AS MATERIALIZED (
    -- Only a CPU's operators have a time of their own.
    SELECT call_id, op_id, layer, filter, op_name, category, library, per_rank FROM every WHERE kind = 'op'
), above AS (
    SELECT DISTINCT e.op_id, a.category FROM host e JOIN raw.ops o ON o.id = e.op_id JOIN ops a ON a.id = o.parent_id
    WHERE e.category IN ('bias', 'activation')
), own AS (
    SELECT e.call_id, e.op_id, e.layer, e.filter, e.op_name,
        if(e.category = 'activation', 'activation', 'bias')
            || if(coalesce(e.direction IN ('dgrad', 'wgrad', 'backward'), e.op_is_backward, false),
                ' gradient', '') AS work,
        coalesce(e.library, '(unknown)') AS library,
        CASE WHEN e.category = 'gemm' THEN 'epilogue kernel' WHEN e.kind = 'op' THEN 'operator'
            ELSE 'unfused' END AS form,
        -- An operator's time comes in pieces around what runs inside it; relu > clamp_min is one call.
        if(e.kind <> 'op' OR above.category IS DISTINCT FROM e.category AND NOT e.is_continued,
            1.0 / per_rank, 0) AS calls,
        dur_ns / per_rank AS time_ns, alone_ns / per_rank AS busy_ns
    FROM every e
    LEFT JOIN above ON above.op_id = e.op_id AND e.kind = 'op'
    WHERE e.category IN ('bias', 'activation')
        OR e.category = 'gemm' AND contains(e.name, 'epilogue::impl::globalKernel')
), logged AS (
    -- oneDNN's log says what it fused.
    SELECT e.call_id, e.op_id, e.layer, e.filter, e.op_name,
        unnest(list_concat(
            if(regexp_matches(p.formats, '\bbia[:_][^u]'), [if(p.prop_kind LIKE 'backward%', 'bias gradient', 'bias')],
                []),
            if(regexp_matches(p.attributes, 'eltwise_'), ['activation'], []))) AS work,
        e.library, 'fused' AS form, 1.0 / per_rank AS calls, NULL AS busy_ns
    FROM every e JOIN raw.primitives p ON p.id = e.id
    WHERE e.kind = 'primitive'
), told AS (
    -- A convolution that is given a bias and launches no kernel for it has it in its main kernel; PyTorch's operators
    -- of frozen models are called after the activation.
    SELECT e.call_id, e.call_id AS op_id, any_value(e.layer) AS layer, any_value(e.filter) AS filter,
        any_value(e.op_name) AS op_name, unnest(list_concat(
            if(any_value(s.parameters > list_product(s.filter_shape)) AND NOT bool_or(e.category = 'bias'), ['bias'],
                []),
            if(bool_or(regexp_matches(e.op_name, '::(cudnn|miopen)_convolution_(add_)?relu$'))
                AND NOT bool_or(e.category = 'activation'), ['activation'], []))) AS work,
        coalesce(any_value(e.library) FILTER (e.role = 'main'), '(unknown)') AS library, 'fused' AS form,
        any_value(1.0 / per_rank) AS calls, NULL AS busy_ns
    FROM every e LEFT JOIN conv_shapes s ON s.op_id = e.call_id
    WHERE e.direction = 'fprop' AND e.kind = 'kernel' AND e.call_id IS NOT NULL
    GROUP BY e.call_id
), noted AS (
    -- ONNX Runtime's nodes say by their last input whether they add a bias (a packed filter is not a bias), and
    -- by type or name what they apply to the result: a fused node is called after its last part.
    SELECT DISTINCT e.call_id, e.op_id, e.layer, e.filter, e.op_name, unnest(list_concat(
            if(json_array_length(o.shapes, '$[#-1]') = 1, ['bias'], []),
            if(regexp_matches(e.op_name, ':Fused|(?i)(relu|sigmoid|tanh|clip|softplus)[^/]*_nchwc:'), ['activation'],
                []))) AS work,
        coalesce(nullif(e.library, 'framework'), 'onnxruntime') AS library, 'fused' AS form, 1.0 / per_rank AS calls,
        NULL AS busy_ns
    FROM (FROM host WHERE regexp_matches(op_name, ':(Fused)?(Conv|Gemm)$')) e JOIN raw.ops o ON o.id = e.op_id
    WHERE o.backend IS NOT NULL
), remapped AS (
    -- TensorFlow calls an operator that it made of several after the last of them. A product's first addition is its
    -- bias; a convolution's may be a batch normalisation, so its bias is told only where the name ends with it.
    SELECT DISTINCT e.call_id, e.op_id, e.layer, e.filter, e.op_name, unnest(list_concat(
            if(regexp_matches(e.op_name, 'BiasAdd:|FusedMatMul$'), ['bias'], []),
            if(regexp_matches(e.op_name, '(?i)(elu|sigmoid|tanh|gelu)[^/]*:'), ['activation'], []),
            if(ends_with(e.op_name, 'FilterWithBias'), ['bias gradient'], []))) AS work,
        if(contains(e.op_name, ':_Mkl'), 'oneDNN', e.library) AS library, 'fused' AS form, 1.0 / per_rank AS calls,
        NULL AS busy_ns
    FROM host e
    WHERE regexp_matches(e.op_name,
        ':_(Mkl)?(Native)?(Fused(Conv2D|Conv3D|DepthwiseConv2dNative|MatMul)|\w+FilterWithBias)$')
        AND e.op_id NOT IN (SELECT op_id FROM raw.primitives WHERE op_id IS NOT NULL)
), united AS (
    SELECT *, coalesce(layer, 'filter ' || filter, op_name, '(no operator)') AS place
    FROM (FROM own UNION ALL BY NAME FROM logged UNION ALL BY NAME FROM told UNION ALL BY NAME FROM noted
        UNION ALL BY NAME FROM remapped)
)
SELECT coalesce(place, '(all layers)') AS layer, work, library, form, sum(calls) AS calls,
    CAST(sum(time_ns) AS DOUBLE) AS time_ns, CAST(sum(busy_ns) AS DOUBLE) AS busy_ns,
    100.0 * sum(busy_ns) / nullif((SELECT sum(alone_ns / per_rank) FROM totals
        WHERE is_counted OR is_carried), 0) AS busy_pct
FROM united
GROUP BY GROUPING SETS ((work, library, form), (place, work, library, form))
ORDER BY place IS NOT NULL, busy_ns DESC NULLS LAST, layer, work, library, form
