-- doc = """Every algorithm of cuDNN for every convolution whose shapes are known, by direction and arithmetic:
-- whether it is admissible, why not, and its place in what is usually fast (traceview/classify/algorithms.toml)."""
-- materialize = true
-- whole_job = true
-- [columns]
-- direction = "fprop, dgrad or wgrad"
-- arithmetic = "type of the products: fp32, tf32, fp16, bf16, fp64, int8; NULL for another"
-- algorithm = "see docs/vocabulary.md"
-- method = "its model in method_costs"
-- is_admissible = "whether cuDNN could compute this convolution with it"
-- reasons = "the conditions it breaks"
-- needs = "what it needs besides, which a trace does not say"
-- place = "1 is usually the fastest of the admissible ones; NULL where nothing is known"
-- tendency = "the class of shapes that the place is from"
-- places = "algorithms of that class, the fastest first, those that are not cuDNN's among them"
-- tendency_source = "where that was measured"
-- memory = "workspace in words"
WITH problem AS (
    SELECT row_number() OVER () AS problem, * FROM problems WHERE len(stride) > 0
), pass AS (
    SELECT p.*, d.*, a.*, filter_shape AS w, if(transposed, output_shape, input_shape) AS x,
        -- A transposed convolution's passes are those of the plain one with input and output exchanged.
        CASE WHEN direction = 'wgrad' THEN 'wgrad' WHEN transposed = (direction = 'fprop') THEN 'dgrad'
            ELSE 'fprop' END AS form,
        coalesce(list_aggregate(stride, 'max'), 0) AS stride_most,
        coalesce(list_aggregate(dilation, 'max'), 1) AS dilation_most
    FROM problem p, (VALUES ('fprop'), ('dgrad'), ('wgrad')) d(direction),
        (VALUES ('fp32'), ('tf32'), ('fp16'), ('bf16'), ('fp64'), ('int8'), (NULL)) a(arithmetic)
), sized AS (
    SELECT *, len(x) - 2 AS dims, (list_aggregate(w[3:], 'max') - 1) * dilation_most + 1 AS widest,
        (list_aggregate(w[3:], 'min') - 1) * dilation_most + 1 AS narrowest,
        greatest(x[3] + 2 * coalesce(padding[1], 0), x[-1] + 2 * coalesce(padding[-1], 0)) AS padded,
        -- Sides of the filter that are no wider than the padding beside them; one padding is that of all sides.
        list_filter(list_zip(list_transform(w[3:], lambda side: (side - 1) * dilation_most + 1),
            if(len(padding) = 1, list_transform(w[3:], lambda side: padding[1]), padding)),
                lambda pair: pair[1] <= pair[2])[1] AS drowned
    FROM pass
), tended AS (
    SELECT s.*, t.name AS tendency, t."order" AS places, t.source AS tendency_source
    FROM sized s LEFT JOIN names.tendency t ON s.arithmetic = 'fp32' AND s.groups = 1 AND s.dims = 2
        AND s.dilation_most = 1
        AND coalesce(s.narrowest >= t.filter_min, true) AND coalesce(s.widest <= t.filter_max, true)
        AND coalesce(s.stride_most >= t.stride_min, true) AND coalesce(s.stride_most <= t.stride_max, true)
        AND coalesce(s.x[2] <= t.channels_max, true) AND coalesce(list_contains(t.directions, s.form), true)
    QUALIFY row_number() OVER (PARTITION BY s.problem, s.direction, s.arithmetic ORDER BY t.position) = 1
), judged AS (
    SELECT t.*, a.name AS algorithm, a.memory,
        concat_ws('; ', 'cuDNN ' || a.since || ' or later',
            if(t.groups > 1, if(t.dilation_most > 1, 'cuDNN 7.1 or later for groups with dilation',
            'cuDNN 7 or later for groups'), NULL), a.layout || ' tensors') AS needs,
        m.method,
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
    LEFT JOIN names.method m ON m.implementation IS NULL AND m.algorithm = a.name AND coalesce(m.filter = t.w[3], true)
), placed AS (
    SELECT *, len(reasons) = 0 AS is_admissible, nullif(list_position(places, algorithm), 0) AS position FROM judged
)
SELECT input_shape, filter_shape, output_shape, stride, padding, dilation, groups, transposed, dtype, direction,
    arithmetic, algorithm, method, is_admissible, reasons, needs,
    CASE WHEN is_admissible AND position IS NOT NULL THEN
        CAST(rank() OVER (PARTITION BY problem, direction, arithmetic, is_admissible
            ORDER BY position NULLS LAST) AS BIGINT) END AS place,
    tendency, places, tendency_source, memory
FROM placed
