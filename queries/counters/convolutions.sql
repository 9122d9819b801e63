-- title = "Convolutions: FLOP as counted and by model"
-- doc = """FLOP of a call as the hardware counted them (nvprof --metrics flop_count_sp, in the same folder as a trace
-- with the layers), beside those of the direct method and those of the algorithm by model. A counter is known by the
-- name of its kernel alone: layers that run the same kernels are one row, in which every number is a mean."""
-- cannot = "No convolution of this trace has counters of FLOP of all its kernels."
-- [columns]
-- layers = "layers whose calls run these kernels"
-- direction = "fprop, dgrad or wgrad"
-- algorithm = "that the kernels show"
-- calls = "of the recording"
-- direct_flop = "of the direct method, a call"
-- model_flop = "of the algorithm by model, a call"
-- counted_flop = "counted, the sum over the kernels of a call"
-- counted_pct = "counted, of the direct method"
-- varies = "whether runs of one of the kernels were counted differently"
-- [headings]
-- counted_pct = "of direct"
WITH call AS (
    SELECT v.op_id, v.direction, v.layer, v.algorithm, v.start_ns, v.flop AS direct_flop, s.executed_flop AS model_flop,
        v.evidence
    FROM conv_calls v LEFT JOIN conv_costs s ON s.op_id = v.op_id AND s.direction = v.direction
), counted AS (
    SELECT kernel, avg(flop) AS flop, min(least_flop) < max(most_flop) AS varies
    FROM counted_kernels WHERE flop IS NOT NULL GROUP BY kernel
), used AS (
    SELECT evidence, if(count(n.kernel) = count(*), sum(n.flop), NULL) AS counted_flop, bool_or(n.varies) AS varies
    FROM (SELECT evidence, unnest(evidence) AS kernel FROM (SELECT DISTINCT evidence FROM call)) e
    LEFT JOIN counted n ON n.kernel = e.kernel
    GROUP BY evidence
), summed AS (
    SELECT direction, algorithm, evidence, list_sort(list(DISTINCT coalesce(layer, '(no layer)'))) AS names,
        count(*) AS calls, avg(direct_flop) AS direct_flop, avg(model_flop) AS model_flop, min(start_ns) AS first_ns
    FROM call GROUP BY direction, algorithm, evidence
)
SELECT array_to_string(names[:3], ', ') || if(len(names) > 3, format(' and {} others', len(names) - 3), '') AS layers,
    direction, algorithm, calls, direct_flop, model_flop, counted_flop,
    100.0 * counted_flop / nullif(direct_flop, 0) AS counted_pct, varies
FROM summed JOIN used USING (evidence)
WHERE counted_flop IS NOT NULL
ORDER BY first_ns, direction, algorithm, evidence
