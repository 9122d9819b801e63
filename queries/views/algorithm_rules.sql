-- doc = """Choice of algorithm by the rules (traceview/classify/algorithms.toml) for each problem that was timed on a
-- GPU, beside the algorithm that was the fastest. Where several algorithms were timed, the first of the rule's order
-- among them is the choice; where only one was, a library chose it, and the rule's first admissible one is held against
-- it."""
-- [columns]
-- chosen = "by the rules; NULL where they say nothing of such a shape"
-- fastest = "of those timed; where only one was, the one that the library chose"
-- tried = "algorithms that were timed"
-- basis = "fastest of several, or chosen by the library"
-- is_hit = "whether both are the same"
-- is_family_hit = "whether they are of one family: GEMM, FFT, Winograd, direct"
-- loss = "time of the chosen over that of the fastest, where both were timed"
WITH tried AS (
    SELECT setting, problem, batch, direction, any_value(label) AS label, min_by(contender, place) AS fastest,
        list(contender ORDER BY place) AS tried, map_from_entries(list((contender, ratio) ORDER BY place)) AS ratios,
        'fastest of several' AS basis
    FROM algorithm_best WHERE NOT starts_with(contender, '(') AND NOT starts_with(coalesce(setting, ''), 'cpu')
        AND direction IN ('fprop', 'dgrad', 'wgrad')
    GROUP BY setting, problem, batch, direction HAVING count(*) >= 2
), choosing AS (
    -- A library that has one algorithm alone chose nothing.
    SELECT source, backend FROM algorithm_times WHERE is_timed AND status = 'published' GROUP BY source, backend
    HAVING count(DISTINCT algorithm) >= 2
), given AS (
    SELECT t.setting, t.problem, t.batch, t.direction, t.label, t.algorithm AS fastest, [t.algorithm] AS tried,
        map_from_entries([(t.algorithm, 1.0)]) AS ratios, 'chosen by the library' AS basis
    FROM algorithm_times t JOIN choosing c ON c.source = t.source AND c.backend = t.backend
    WHERE t.is_timed AND t.algorithm IS NOT NULL AND t.direction IN ('fprop', 'dgrad', 'wgrad')
    QUALIFY count(DISTINCT t.algorithm) OVER (PARTITION BY t.source, t.backend, t.problem, t.batch, t.direction) = 1
), shape AS (
    SELECT DISTINCT ON (setting, problem, batch, direction) setting, problem, batch, direction, model, input_shape,
        filter_shape, output_shape, stride, padding, dilation, groups, dtype
    FROM algorithm_times WHERE is_timed ORDER BY setting, problem, batch, direction, number
), ruled AS (
    SELECT s.setting, s.problem, s.batch, s.direction, any_value(p.tendency) AS tendency,
        any_value(p.places) AS places, min_by(p.algorithm, p.place) FILTER (p.place IS NOT NULL) AS first
    FROM shape s JOIN problem_algorithms p
        ON s.input_shape = p.input_shape AND s.filter_shape = p.filter_shape AND s.output_shape = p.output_shape
        AND s.stride = p.stride AND s.padding = p.padding AND s.dilation = p.dilation AND s.groups = p.groups
        AND s.dtype IS NOT DISTINCT FROM p.dtype AND NOT p.transposed AND s.direction = p.direction
        AND p.arithmetic = 'fp32'
    WHERE regexp_matches(s.dtype, '32')
    GROUP BY s.setting, s.problem, s.batch, s.direction
), held AS (
    FROM tried UNION ALL BY NAME FROM given
), chosen AS (
    SELECT t.*, s.model, r.tendency,
        if(len(t.tried) >= 2, list_filter(r.places, lambda name: list_contains(t.tried, name))[1], r.first) AS chosen
    FROM held t JOIN shape s ON s.setting IS NOT DISTINCT FROM t.setting AND s.problem = t.problem
        AND s.batch IS NOT DISTINCT FROM t.batch AND s.direction = t.direction
    LEFT JOIN ruled r ON r.setting IS NOT DISTINCT FROM t.setting AND r.problem = t.problem
        AND r.batch IS NOT DISTINCT FROM t.batch AND r.direction = t.direction
)
SELECT setting, model, problem, label, batch, direction, tendency, basis, chosen, fastest, tried,
    chosen = fastest AS is_hit,
    regexp_extract(chosen, 'gemm|fft|winograd|direct') = regexp_extract(fastest, 'gemm|fft|winograd|direct')
        AS is_family_hit,
    ratios[chosen] AS loss
FROM chosen
