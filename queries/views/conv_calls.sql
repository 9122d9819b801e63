-- doc = """One row per convolution operator call and direction, with the algorithm that its kernels or primitives show,
-- and its time split by what they do. On a CPU, calls that run at once share their time (view conv_shares)."""
-- materialize = true
-- empty_without = ["attributed.op", "attributed.part"]
-- types = """op_id BIGINT, rank INTEGER, op_name VARCHAR, layer VARCHAR, step BIGINT, direction VARCHAR,
-- algorithm VARCHAR, confidence VARCHAR, algorithms VARCHAR[], evidence VARCHAR[], libraries VARCHAR[],
-- n_parts BIGINT, input_shape BIGINT[], filter_shape BIGINT[], output_shape BIGINT[], stride BIGINT[],
-- padding BIGINT[], dilation BIGINT[], groups BIGINT, transposed BOOLEAN, dtype VARCHAR, element_bytes INTEGER,
-- parameters BIGINT, flop BIGINT, forward_call BIGINT, start_ns BIGINT, end_ns BIGINT, main_ns BIGINT,
-- transform_ns BIGINT, layout_ns BIGINT, bias_ns BIGINT, activation_ns BIGINT, helper_ns BIGINT, total_ns BIGINT"""
-- [columns]
-- op_id = "the call's outermost operator; without operators the library's call, or the first kernel"
-- layer = "layer the call belongs to"
-- confidence = "what the algorithm rests on"
-- algorithms = "every algorithm seen under the call, for calls that try several"
-- evidence = "kernels, primitives or compiled operators of the arithmetic and its transforms"
-- libraries = "libraries that implement the arithmetic"
-- n_parts = "kernels and primitives under the call"
-- input_shape = "batch, channels, spatial sizes"
-- filter_shape = "filters, channels per group, spatial sizes"
-- output_shape = "batch, filters, spatial sizes"
-- groups = "channel groups"
-- element_bytes = "bytes of an element of the input, by its type; 4 where that is unknown"
-- parameters = "elements of the filter and, in a forward call that has one, the bias"
-- direction = "fprop, dgrad or wgrad; none where one operator computes both gradients and they cannot be told apart"
-- flop = """FLOPs of the direct method, two per multiply-accumulate; of both gradients where the direction is NULL for
-- that"""
-- forward_call = "the call that this one is the gradient of, where the profiler linked them"
-- start_ns = "start of the first thing under the call"
-- main_ns = "time of the arithmetic"
-- transform_ns = "time of im2col, FFT and Winograd transforms"
-- layout_ns = "time of layout changes"
-- bias_ns = "time of the bias addition or the bias's gradient"
-- activation_ns = "time of activations under the call"
-- helper_ns = "time of everything else: offset tables, zeroing; on a CPU also dispatch and allocation"
-- total_ns = "sum of all of these"
WITH part AS (
    -- What an operator did outside its primitives (allocation, dispatch) goes with what ran last before it, else first
    -- after. A product without a pass has none: another part's is not its own.
    SELECT a.* REPLACE (coalesce(s.own_ns, a.dur_ns) AS dur_ns),
        coalesce(direction, if(kind = 'kernel' AND category = 'conv' AND role = 'main', 'unknown', NULL),
            last_value(direction IGNORE NULLS) OVER earlier,
            first_value(direction IGNORE NULLS) OVER later, 'unknown') AS way,
        -- A product that is an operator within the call is its arithmetic.
        (category = 'conv' AND coalesce(role, '') = 'main') OR (kind = 'op' AND category = 'gemm') AS is_main
    FROM activities a LEFT JOIN conv_shares s ON s.id = a.id AND s.start_ns = a.start_ns AND a.device = 'cpu'
    WHERE a.call_id IS NOT NULL
    WINDOW earlier AS (PARTITION BY a.call_id ORDER BY a.start_ns, a.id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        later AS (PARTITION BY a.call_id ORDER BY a.start_ns, a.id
            ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
), own AS (
    SELECT call_id, way, any_value(rank) AS rank,
        min(start_ns) AS start_ns, max(end_ns) AS end_ns, any_value(layer) AS layer, any_value(step) AS step,
        list_sort(list_distinct(list(algorithm) FILTER (category = 'conv' AND role = 'main' AND algorithm IS NOT NULL)))
            AS algorithms,
        list_sort(list_distinct(list(name) FILTER (category = 'conv' AND role IN ('main', 'transform')
            AND (kind IN ('kernel', 'primitive') OR algorithm IS NOT NULL)))) AS evidence,
        list_sort(list_distinct(list(library) FILTER (category = 'conv' AND role = 'main' AND library IS NOT NULL)))
            AS libraries,
        count(*) FILTER (kind IN ('kernel', 'primitive')) AS n_parts,
        CAST(coalesce(sum(dur_ns) FILTER (is_main), 0) AS BIGINT) AS main_ns,
        CAST(coalesce(sum(dur_ns) FILTER (category = 'conv' AND role = 'transform'), 0) AS BIGINT) AS transform_ns,
        CAST(coalesce(sum(dur_ns) FILTER (category = 'layout_transpose'), 0) AS BIGINT) AS layout_ns,
        CAST(coalesce(sum(dur_ns) FILTER (category = 'bias'), 0) AS BIGINT) AS bias_ns,
        CAST(coalesce(sum(dur_ns) FILTER (category = 'activation'), 0) AS BIGINT) AS activation_ns,
        CAST(coalesce(sum(dur_ns) FILTER (category NOT IN ('layout_transpose', 'bias', 'activation') AND NOT is_main
            AND NOT (category = 'conv' AND coalesce(role, '') = 'transform')), 0) AS BIGINT) AS helper_ns,
        CAST(sum(dur_ns) AS BIGINT) AS total_ns
    FROM part GROUP BY call_id, way
)
SELECT
    c.call_id AS op_id, c.rank, coalesce(o.name, r.name) AS op_name, coalesce(o.layer, c.layer) AS layer,
    coalesce(o.step, c.step) AS step,
    coalesce(nullif(c.way, 'unknown'), o.direction, if(len(s.gradients) = 1, s.gradients[1], NULL)) AS direction,
    CASE WHEN len(c.algorithms) = 1 THEN c.algorithms[1] WHEN len(c.algorithms) > 1 THEN 'several' END AS algorithm,
    CASE
        WHEN len(c.algorithms) > 1 THEN 'several algorithms tried in one call'
        WHEN len(c.algorithms) = 1 AND o.id IS NOT NULL THEN 'operator and names'
        WHEN len(c.algorithms) = 1 AND r.id IS NOT NULL THEN 'library call and names'
        WHEN len(c.algorithms) = 1 THEN 'names and launch order, no operator recorded'
        ELSE 'none: nothing below the call names an algorithm'
    END AS confidence,
    c.algorithms, c.evidence, c.libraries, c.n_parts,
    s.input_shape, s.filter_shape, s.output_shape, s.stride, s.padding, s.dilation, s.groups, s.transposed,
    s.dtype, s.element_bytes, s.parameters, if(c.way = 'unknown' AND o.direction IS NULL AND len(s.gradients) = 2, 2, 1)
        * s.flop AS flop, f.call_id AS forward_call,
    c.start_ns, c.end_ns, c.main_ns, c.transform_ns, c.layout_ns, c.bias_ns, c.activation_ns, c.helper_ns, c.total_ns
FROM own c
LEFT JOIN attributed.conv_op o ON o.id = c.call_id
LEFT JOIN attributed.op f ON f.id = o.forward_id
LEFT JOIN raw.ranges r ON r.id = c.call_id
LEFT JOIN conv_shapes s ON s.op_id = c.call_id
