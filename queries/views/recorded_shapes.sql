-- doc = """Shapes of a convolution call by each source: the inputs that PyTorch records on its operators (1), XLA's,
-- Theano's or TensorFlow 1's compiled program (2), the primitive that ran (3), ONNX Runtime's nodes (4). A call has a
-- row for each source; what a source does not say is NULL."""
-- [columns]
-- source = "the lower, the sooner believed"
-- x = "input"
-- w = "filter"
-- y = "output"
WITH said AS (
    -- Texts are read once each: calls repeat what few of them say.
    SELECT DISTINCT name, shapes, inputs, types FROM raw.ops
    WHERE name IN (SELECT name FROM names.conv) AND shapes IS NOT NULL
), recorded AS (
    SELECT o.*, p.position,
        TRY_CAST(json_extract(o.shapes, '$[' || p.input || ']') AS BIGINT[]) AS x,
        TRY_CAST(json_extract(o.shapes, '$[' || p.weight || ']') AS BIGINT[]) AS w,
        TRY_CAST(json_extract(o.shapes, '$[' || p.grad || ']') AS BIGINT[]) AS dy,
        TRY_CAST(json_extract(o.shapes, '$[' || p.bias || ']') AS BIGINT[]) AS bias,
        TRY_CAST(json_extract_string(o.inputs, '$[' || p.stride || ']') AS BIGINT[]) AS stride,
        TRY_CAST(json_extract_string(o.inputs, '$[' || p.padding || ']') AS BIGINT[]) AS padding,
        TRY_CAST(json_extract_string(o.inputs, '$[' || p.dilation || ']') AS BIGINT[]) AS dilation,
        TRY_CAST(json_extract_string(o.inputs, '$[' || p.transposed || ']') AS BOOLEAN) AS transposed,
        TRY_CAST(json_extract_string(o.inputs, '$[' || p.output_padding || ']') AS BIGINT[]) AS output_padding,
        TRY_CAST(json_extract_string(o.inputs, '$[' || p.groups || ']') AS BIGINT) AS groups,
        json_extract_string(o.types, '$[' || p.input || ']') AS dtype,
        -- Which of the gradients of input and filter it was asked for.
        list_filter(list_transform(list_zip(['dgrad', 'wgrad'],
            regexp_extract_all(json_extract_string(o.inputs, '$[' || p.output_mask || ']'), 'True|False')[:2]),
            lambda pair: if(pair[2] = 'True', pair[1], NULL)), lambda way: way IS NOT NULL) AS gradients
    FROM said o JOIN names.conv p ON p.name = o.name
), told AS MATERIALIZED (
    SELECT row_number() OVER () AS number, * FROM recorded WHERE len(x) >= 3 AND len(w) = len(x)
        AND list_max(list_concat(x, w, dy, stride, padding, dilation, output_padding, [groups])) < 2147483648
), candidate AS MATERIALIZED (
    SELECT a.call_id, o.id, o.parent_id, o.depth, t.*
    FROM raw.ops o JOIN attributed.op a ON a.id = o.id
    JOIN told t ON t.name = o.name AND t.shapes = o.shapes AND t.inputs IS NOT DISTINCT FROM o.inputs
        AND t.types IS NOT DISTINCT FROM o.types
), best AS (
    -- Around an operator on a tensor subclass (DTensor) stands one with the sizes of the whole, under vmap around the
    -- one with the sizes of all samples those of its name with the sizes of one. It asks for each gradient by itself.
    SELECT c.call_id AS op_id, arg_min(c.gradients, row(c.position, c.depth, c.id)) AS gradients,
        arg_min(c.number, row(coalesce(p.id IS NULL
            AND c.parent_id NOT IN (SELECT id FROM raw.ops WHERE name = 'PythonSubclass'), true),
        c.stride IS NULL AND c.dy IS NULL, c.position, if(p.id IS NULL, c.depth, -c.depth), c.id)) AS number
    FROM candidate c LEFT JOIN candidate p ON p.id = c.parent_id AND p.name = c.name AND (p.x <> c.x OR p.w <> c.w)
    GROUP BY c.call_id
), chosen AS (
    SELECT b.op_id, t.* REPLACE (b.gradients AS gradients) FROM best b JOIN told t USING (number)
), sized AS (
    SELECT *,
        CASE
            WHEN len(dy) = len(x) THEN dy
            WHEN coalesce(len(stride) <> len(x) - 2 OR len(padding) <> len(x) - 2, true) THEN NULL
            WHEN transposed AND len(output_padding) = len(x) - 2 THEN [x[1], w[2] * coalesce(groups, 1)]
                || list_transform(range(1, len(x) - 1), lambda d: (x[d + 2] - 1) * stride[d] - 2 * padding[d]
                    + coalesce(dilation[d], 1) * (w[d + 2] - 1) + output_padding[d] + 1)
            WHEN NOT coalesce(transposed, false) THEN [x[1], w[1]]
                || list_transform(range(1, len(x) - 1), lambda d:
                (x[d + 2] + 2 * padding[d] - coalesce(dilation[d], 1) * (w[d + 2] - 1) - 1) // greatest(stride[d], 1)
                    + 1)
        END AS y
    FROM chosen
), logged AS (
    -- oneDNN's problem: mb16_g2ic3oc64_ih224oh55kh11sh4dh0ph2_iw224ow55kw11sw4dw0pw2
    SELECT c.call_id AS op_id, any_value(shape) AS problem, any_value(formats) AS formats
    FROM raw.primitives p JOIN attributed.op c ON c.id = p.op_id
    WHERE p.kind = 'convolution' AND shape LIKE 'mb%' GROUP BY c.call_id
), read AS (
    -- A damaged log may say one thing twice: TRY.
    SELECT op_id, formats, TRY(map_from_entries(list_transform(
        regexp_extract_all(problem, '(mb|ic|oc|ih|oh|kh|sh|dh|ph|iw|ow|kw|sw|dw|pw|g)(\d+)'),
        lambda m: {'k': regexp_extract(m, '^[a-z]+'),
            'v': CAST(TRY_CAST(regexp_extract(m, '\d+') AS INTEGER) AS BIGINT)}))) AS f
    FROM logged
), parsed AS (
    SELECT op_id, coalesce(f['g'], 1) AS groups,
        [f['mb'], f['ic'], coalesce(f['ih'], f['iw']), f['iw']] AS x,
        [f['oc'], f['ic'] // coalesce(f['g'], 1), coalesce(f['kh'], f['kw']), f['kw']] AS w,
        [f['mb'], f['oc'], coalesce(f['oh'], f['ow']), f['ow']] AS y,
        [coalesce(f['sh'], f['sw']), f['sw']] AS stride, [coalesce(f['ph'], f['pw']), f['pw']] AS padding,
        [coalesce(f['dh'], f['dw']) + 1, f['dw'] + 1] AS dilation,
        -- src:f32:..., before oneDNN 3 src_f32:...
        nullif(regexp_extract(formats, 'src[:_]([a-z]+\d+)', 1), '') AS dtype,
        CASE WHEN regexp_matches(formats, 'bia:[^u]') THEN [f['oc']] END AS bias
    FROM read WHERE f['iw'] IS NOT NULL AND f['kw'] IS NOT NULL AND f['ow'] IS NOT NULL
), compiled AS (
    SELECT a.call_id AS op_id, TRY_CAST(json_extract(o.shapes, '$[0]') AS BIGINT[]) AS x,
        TRY_CAST(json_extract(o.shapes, '$[1]') AS BIGINT[]) AS w,
        TRY_CAST(json_extract(o.output_shapes, '$[0]') AS BIGINT[]) AS y,
        TRY_CAST(json_extract_string(o.inputs, '$[0]') AS BIGINT[]) AS stride,
        TRY_CAST(json_extract_string(o.inputs, '$[1]') AS BIGINT[]) AS padding,
        TRY_CAST(json_extract_string(o.inputs, '$[2]') AS BIGINT[]) AS dilation,
        TRY_CAST(json_extract_string(o.inputs, '$[3]') AS BIGINT) AS groups,
        json_extract_string(o.types, '$[0]') AS dtype,
        TRY_CAST(json_extract(o.shapes, '$[2]') AS BIGINT[]) AS bias
    FROM raw.ops o JOIN attributed.op a ON a.id = o.id
    WHERE (regexp_matches(o.hlo_kind, ' (fprop|dgrad|wgrad)$') OR o.hlo_kind IS NULL AND o.output_shapes IS NOT NULL)
        AND o.inputs IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY a.call_id ORDER BY o.id) = 1
), nodes AS (
    -- ONNX Runtime: image, filter and bias; it records no attributes.
    SELECT op_id, x, w, y, x[2] // greatest(w[2], 1) AS groups, dtype, bias
    FROM (
        SELECT a.call_id AS op_id, TRY_CAST(json_extract(o.shapes, '$[0]') AS BIGINT[]) AS x,
            TRY_CAST(json_extract(o.shapes, '$[1]') AS BIGINT[]) AS w,
            TRY_CAST(json_extract(o.shapes, '$[2]') AS BIGINT[]) AS bias,
            TRY_CAST(json_extract(o.output_shapes, '$[0]') AS BIGINT[]) AS y,
            json_extract_string(o.types, '$[0]') AS dtype
        FROM raw.ops o JOIN attributed.op a ON a.id = o.id
        WHERE o.backend IS NOT NULL AND regexp_matches(o.name, ':(Fused)?Conv$')
        QUALIFY row_number() OVER (PARTITION BY a.call_id ORDER BY o.id) = 1
    )
    WHERE len(x) >= 3 AND len(w) = len(x) AND len(y) = len(x)
), turned AS (
    -- TensorFlow's transposed convolution: each of its passes is one of a plain convolution, and recorded as that.
    SELECT id AS op_id FROM attributed.conv_op
    WHERE direction = CASE WHEN regexp_matches(name, ':\w*Conv[23]DBackpropInput') THEN 'fprop'
        WHEN regexp_matches(name, ':\w*Conv[23]D$') THEN 'dgrad'
        WHEN regexp_matches(name, 'conv([123]d)?_transpose\w*/[^/]*:\w*Conv[23]DBackpropFilter') THEN 'wgrad' END
)
SELECT 1 AS source, op_id, x, w, y, stride, padding, dilation, groups, transposed, dtype,
    bias, gradients FROM sized
UNION ALL BY NAME
SELECT source, op_id, if(is_turned, y, x) AS x, w, if(is_turned, x, y) AS y, stride, padding, dilation, groups,
    is_turned AS transposed, dtype, bias
FROM (SELECT *, op_id IN (FROM turned) AS is_turned
    FROM (SELECT 2 AS source, * FROM compiled UNION ALL BY NAME SELECT 3 AS source, * FROM parsed))
UNION ALL BY NAME
SELECT 4 AS source, op_id, x, w, y, groups, false AS transposed, dtype, bias FROM nodes
