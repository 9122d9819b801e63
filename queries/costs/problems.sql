-- doc = """Different calls of operators that have a model: their arguments as lists. The element type of a list of
-- tensors is not recorded: the kernels of the call tell it, else it is taken for float, and said to be assumed. Of a
-- PyTorch that records no types (1.8) the kernels tell that of every tensor, and nothing is assumed. Sums
-- over the requests of a step are those that vLLM writes around it:
-- execute_N_context_n(sqA skB sqsqC sqskD)_generation_m(sqE skF sqsqG sqskH), without blanks; of a call that was
-- captured in a graph, around its replay, if there is one alone."""
WITH called AS NOT MATERIALIZED (
    SELECT o.id, o.rank, o.pid, o.tid, o.start_ns, o.dur_ns, n.name, n.model, o.shapes, o.types, o.strides,
        coalesce(o.hlo_cost, o.inputs) AS inputs,
        coalesce(o.types, '[]') = '[]' AND o.hlo_cost IS NULL AS is_untyped,
        is_untyped OR coalesce(contains(o.types, 'TensorList'), contains(o.shapes, '[[[')) AS has_list
    FROM raw.ops o JOIN costed.named n
            ON n.name = if(o.hlo_cost IS NULL, o.name, 'hlo::' || replace(o.hlo_kind, ' ', '_'))
    WHERE o.shapes IS NOT NULL
), sized AS MATERIALIZED (
    -- There are few names.
    SELECT name, CASE
        WHEN regexp_matches(name, 'OpaqueType<\d+') THEN CAST(regexp_extract(name, 'OpaqueType<(\d+)', 1) AS DOUBLE)
        WHEN regexp_matches(name, 'BFloat16|Half') THEN 2 WHEN regexp_matches(name, '\bdouble\b|\blong\b') THEN 8
        WHEN regexp_matches(name, '\bfloat\b|\bint\b') THEN 4 WHEN regexp_matches(name, '\bbool\b') THEN 1 END
        AS size
    FROM (SELECT DISTINCT name FROM raw.kernels WHERE EXISTS (FROM called WHERE has_list))
), ran AS (
    SELECT k.op_id, arg_min(s.size, k.id) AS size, min(k.id) FILTER (s.size IS NOT NULL) AS first
    FROM raw.kernels k JOIN sized s ON s.name = k.name GROUP BY k.op_id
), told AS (
    -- The first that tells.
    SELECT l.id, arg_min(r.size, r.first) AS size
    FROM (SELECT r.*, i.rank, i.pid, i.tid, i.start_ns, i.start_ns + i.dur_ns AS end_ns
            FROM ran r JOIN raw.ops i ON i.id = r.op_id) r
    ASOF JOIN (FROM called WHERE has_list) l
        ON l.rank = r.rank AND l.pid = r.pid AND l.tid = r.tid AND r.start_ns >= l.start_ns
    WHERE r.end_ns <= l.start_ns + l.dur_ns GROUP BY l.id
), served AS (
    SELECT rank, start_ns, start_ns + dur_ns AS end_ns, list_transform(regexp_extract_all(name, 's[qk]+(\d+)', 1),
        lambda sum: TRY_CAST(sum AS DOUBLE)) AS requests
    FROM raw.ranges WHERE regexp_matches(name,
        '^execute_\d+(_(context|generation)_\d+\(sq\d+sk\d+sqsq\d+sqsk\d+\)){2}$')
), replayed AS (
    SELECT k.op_id AS id, any_value(a.start_ns) AS start_ns
    FROM raw.kernels k JOIN raw.api_calls a ON a.id = k.launch_id
    WHERE k.op_link = 'graph' AND EXISTS (FROM served) GROUP BY k.op_id HAVING count(DISTINCT a.id) = 1
), placed AS (
    SELECT c.* REPLACE (coalesce(r.start_ns, c.start_ns) AS start_ns) FROM called c LEFT JOIN replayed r ON r.id = c.id
), asked AS (
    SELECT c.id, s.requests FROM placed c ASOF JOIN served s ON s.rank = c.rank AND c.start_ns >= s.start_ns
    WHERE c.start_ns < s.end_ns
        AND c.model IN ('attention of vLLM', 'prefill of a server', 'paged attention of a server')
), different AS (
    SELECT c.name, c.model, c.shapes, c.types, c.strides, c.inputs, t.size AS list_size, c.is_untyped, a.requests,
        list(c.id) AS ids, min(c.id) AS number
    FROM called c LEFT JOIN told t ON t.id = c.id LEFT JOIN asked a ON a.id = c.id
    GROUP BY ALL
), split AS (
    SELECT number, name, model, ids, requests,
        TRY(json_extract_string(shapes, '$[*]')) AS dims, TRY(json_extract_string(types, '$[*]')) AS types,
        TRY(json_extract_string(strides, '$[*]')) AS strides,
        list_transform(TRY(json_extract_string(inputs, '$[*]')), lambda x: if(x IN ('', 'None'), NULL, x)) AS inputs,
        coalesce(list_size, 4.0) AS list_size, list_size IS NULL AS list_size_is_assumed,
        if(is_untyped, list_size, NULL) AS told_size
    FROM different
), primitive AS (
    SELECT list_min(p.ids) AS number, p.name, m.model, p.ids, p.kinds, p.said, p.sizes
    FROM costed.primitive p JOIN costed.named m ON m.name = p.name
), shaped AS (
    -- A number has no sizes, as a tensor without dimensions: its type tells. A damaged size is not used.
    SELECT *, list_transform(dims, lambda dim, place: CASE
            WHEN dim = '[]' THEN if(coalesce(types[place], '')
                IN ('', 'None', 'Scalar', 'ScalarList', 'TensorList', 'GenericList'), NULL, CAST([] AS DOUBLE[]))
            WHEN NOT starts_with(dim, '[[') AND NOT contains(dim, '-') AND NOT contains(dim, 'null')
                THEN TRY_CAST(dim AS DOUBLE[]) END) AS shapes,
        list_transform(dims, lambda dim: if(starts_with(dim, '[['), TRY_CAST(dim AS DOUBLE[][]), NULL)) AS lists,
        list_transform(inputs, lambda x:
            coalesce(TRY_CAST(x AS DOUBLE[]), [TRY_CAST(x AS DOUBLE)])) AS numbers, false AS is_primitive
    FROM split
    UNION ALL BY NAME
    SELECT number, name, model, ids, kinds AS types, said AS inputs,
        4.0 AS list_size, false AS list_size_is_assumed,
        -- Weights and bias may not be there; what is there in part makes all of it unknown.
        if(sizes[1] IS NULL OR len(list_filter(sizes, lambda x: list_count(x) < len(x))) > 0, NULL,
            CAST(sizes AS DOUBLE[][])) AS shapes, true AS is_primitive
    FROM primitive
), typed AS (
    SELECT *, if(told_size IS NULL, type_sizes, list_transform(dims, lambda dim: told_size)) AS sizes
    FROM (SELECT *, list_transform(types, lambda type: element_size(type)) AS type_sizes,
        list_transform(types, lambda type: number_kind(type)) AS type_kinds FROM shaped)
)
-- A dimension that was expanded has stride 0.
SELECT number, name, model, ids, requests, types, type_sizes, type_kinds, inputs, list_size, list_size_is_assumed,
    shapes, lists, sizes, numbers, is_primitive, told_size IS NOT NULL AS is_told,
    -- Every dense tensor with dimensions has strides.
    len(list_filter(shapes, lambda x, place: len(x) > 0 AND strides[place] = '[]')) > 0 AND NOT contains(name, 'mkldnn')
        AS has_sparse,
    list_transform(shapes, lambda x: if(x IS NULL, NULL, coalesce(list_product(x), 1))) AS elements,
    list_transform(shapes, lambda x, place: CASE WHEN coalesce(len(x), 0) = 0 THEN 0 ELSE sizes[place]
        * list_product(list_transform(x, lambda size, axis:
            if(size > 0 AND TRY_CAST(strides[place] AS DOUBLE[])[axis] = 0, 1, size))) END) AS bytes_read
FROM typed
