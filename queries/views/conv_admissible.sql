-- title = "conv_admissible"
-- doc = """Every algorithm of cuDNN for every convolution call on a device of NVIDIA whose shapes are recorded (no
-- other library has these algorithms under these conditions): whether it is admissible, why not, the workspace it needs
-- by model, and its place in what is usually fast (traceview/classify/algorithms.toml). One row per call, direction and
-- algorithm."""
-- [columns]
-- op_id = "the convolution call"
-- direction = "fprop, dgrad or wgrad"
-- algorithm = "as in conv_calls"
-- is_used = "whether the call used it"
-- is_admissible = "whether cuDNN could compute this convolution with it"
-- reasons = "the conditions it breaks"
-- needs = "what it needs besides, which a trace does not say"
-- place = "1 is usually the fastest of the admissible ones; NULL where nothing is known"
-- tendency = "the class of shapes that the place is from"
-- tendency_source = "where that was measured"
-- workspace_bytes = "by model, of the whole batch at once; NULL where it needs only tables"
-- direct_ratio = "FLOPs of the direct method over its own"
-- memory = "workspace in words"
WITH call AS (
    SELECT c.op_id, c.direction, c.algorithm AS used, c.stride, c.padding, c.groups, c.filter_shape AS w,
        if(c.transposed, c.output_shape, c.input_shape) AS x,
        -- A transposed convolution's passes are those of the plain one with input and output exchanged.
        CASE WHEN c.direction = 'wgrad' THEN 'wgrad' WHEN c.transposed = (c.direction = 'fprop') THEN 'dgrad'
            ELSE 'fprop' END AS form,
        coalesce(list_aggregate(c.stride, 'max'), 0) AS stride_most,
        coalesce(list_aggregate(c.dilation, 'max'), 1) AS dilation_most,
        CASE WHEN k.arithmetic IS NOT NULL THEN k.arithmetic WHEN regexp_matches(c.dtype, '(?i)double|64') THEN 'fp64'
            WHEN regexp_matches(c.dtype, '(?i)^([su]8|u?int8|char|byte)') THEN 'int8' END AS arithmetic
    FROM conv_calls c LEFT JOIN conv_costs k USING (op_id, direction)
    WHERE c.direction IS NOT NULL AND c.flop IS NOT NULL AND len(c.stride) > 0
        AND c.rank IN (SELECT rank FROM raw.kernels)
            AND NOT coalesce(list_has_any(c.libraries, ['miopen', 'tensile']), false)
        AND c.rank NOT IN (SELECT rank FROM known_devices
            WHERE regexp_matches(coalesce(product, name), '(?i)\bAMD\b|radeon|instinct|^MI\d'))
), sized AS (
    SELECT *, len(x) - 2 AS dims, (list_aggregate(w[3:], 'max') - 1) * dilation_most + 1 AS widest,
        (list_aggregate(w[3:], 'min') - 1) * dilation_most + 1 AS narrowest,
        greatest(x[3] + 2 * coalesce(padding[1], 0), x[-1] + 2 * coalesce(padding[-1], 0)) AS padded,
        -- Sides of the filter that are no wider than the padding beside them; one padding is that of all sides.
        list_filter(list_zip(list_transform(w[3:], lambda side: (side - 1) * dilation_most + 1),
            if(len(padding) = 1, list_transform(w[3:], lambda side: padding[1]), padding)),
                lambda pair: pair[1] <= pair[2])[1] AS drowned
    FROM call
), tended AS (
    SELECT s.*, t.name AS tendency, t."order" AS places, t.source AS tendency_source
    FROM sized s LEFT JOIN names.tendency t ON s.arithmetic = 'fp32' AND s.groups = 1 AND s.dims = 2
        AND s.dilation_most = 1
        AND coalesce(s.narrowest >= t.filter_min, true) AND coalesce(s.widest <= t.filter_max, true)
        AND coalesce(s.stride_most >= t.stride_min, true) AND coalesce(s.stride_most <= t.stride_max, true)
        AND coalesce(s.x[2] <= t.channels_max, true) AND coalesce(list_contains(t.directions, s.form), true)
    QUALIFY row_number() OVER (PARTITION BY s.op_id, s.direction ORDER BY t.position) = 1
), judged AS (
    SELECT t.*, a.name AS algorithm, a.memory,
        concat_ws('; ', 'cuDNN ' || a.since || ' or later',
            if(t.groups > 1, if(t.dilation_most > 1, 'cuDNN 7.1 or later for groups with dilation',
            'cuDNN 7 or later for groups'), NULL), a.layout || ' tensors') AS needs,
        CASE WHEN a.method = 'Winograd F(4x4,3x3)' AND t.widest = 5 THEN 'Winograd F(5x5,5x5)'
            ELSE a.method END AS method,
        list_filter([
            if(NOT list_contains(a.directions, t.form), 'no ' || t.form || ' in cuDNN', NULL),
            if(t.dims <> a.dims, format('{} spatial dimensions, not {}', t.dims, a.dims), NULL),
            if(NOT list_contains(a.dtypes, if(t.arithmetic = 'tf32', 'fp32', t.arithmetic)),
                'not for ' || t.arithmetic, NULL),
            if(t.stride_most > a.stride_max, format('stride {}, not {}', t.stride_most, a.stride_max), NULL),
            if(t.dilation_most > a.dilation_max, format('dilation {}, not {}', t.dilation_most, a.dilation_max), NULL),
            if(t.widest <> t.narrowest AND a.filters IS NOT NULL, 'filter is not square', NULL),
            if(NOT list_contains(a.filters, t.widest),
                format('filter of {}, not {}', t.widest, array_to_string(a.filters, ' or ')), NULL),
            if(t.widest > a.filter_max, format('filter of {}, at most {}', t.widest, a.filter_max), NULL),
            if(t.dims = 3 AND t.widest > a.filter_max_3d, format('filter of {}, at most {} in three dimensions',
                t.widest, a.filter_max_3d), NULL),
            if(t.padded > a.padded_max, format('{} wide with padding, at most {}', t.padded, a.padded_max), NULL),
            if(a.padding_below_filter AND t.drowned IS NOT NULL,
                format('filter of {} is not wider than its padding of {}', t.drowned[1], t.drowned[2]), NULL)
        ], lambda reason: reason IS NOT NULL) AS reasons
    FROM tended t CROSS JOIN names.algorithm a
), placed AS (
    SELECT *, len(reasons) = 0 AS is_admissible, nullif(list_position(places, algorithm), 0) AS position FROM judged
)
SELECT p.op_id, p.direction, p.algorithm, coalesce(p.algorithm = p.used, false) AS is_used, p.is_admissible,
    p.reasons, p.needs,
    CASE WHEN p.is_admissible AND p.position IS NOT NULL THEN
        CAST(rank() OVER (PARTITION BY p.op_id, p.direction, p.is_admissible
            ORDER BY p.position NULLS LAST) AS BIGINT) END AS place,
    p.tendency, p.tendency_source,
    CASE WHEN p.is_admissible THEN CASE p.algorithm WHEN 'implicit_gemm' THEN 0 WHEN 'implicit_precomp_gemm' THEN NULL
        -- Fused Winograd kernels keep their tiles in registers; only the transformed filters are stored.
        WHEN 'winograd' THEN 4 * 16 * p.w[1] * p.w[2] ELSE m.workspace_bytes END END AS workspace_bytes,
    CASE WHEN p.is_admissible THEN m.direct_ratio END AS direct_ratio, p.memory
FROM placed p
LEFT JOIN conv_methods m ON m.op_id = p.op_id AND m.direction = p.direction AND m.method = p.method
