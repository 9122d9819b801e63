-- title = "By model: FLOPs, memory and conditions of every method"
-- doc = """FLOPs and memory of each method by model for the shapes of this capture, and the time of the fastest
-- implementation timed beside it. Conditions and order are those of cuDNN 5.1 on GPUs; `--set way=wgrad` shows another
-- direction."""
-- cannot = "No timed convolution algorithms in this capture; `traceview study` measures or imports them."
-- leave_out = [
--     "setting", "waste_pct", "library", "gemm", "cudnn", "direct_ratio", "workspace_bytes", "reason", "place",
-- "batch",
--     "implementation",
-- ]
-- [params]
-- way = { type = "VARCHAR", default = "fprop", doc = "direction: fprop, dgrad or wgrad" }
-- [columns]
-- label = "network and layer"
-- batch = "images"
-- method = "the model; empty for an algorithm of cuDNN that has none for this shape"
-- library = "the only one that has this method"
-- cudnn = "algorithms of cuDNN with this model"
-- admissible = "whether its conditions admit one of them"
-- place = "1 is usually the fastest of the admissible ones"
-- reason = "why none is admissible"
-- gemm = "M x N x K of the direct method's matrix product (per group)"
-- model_flop = "executed, by model"
-- direct_ratio = "FLOPs of the direct method over these"
-- waste_pct = "Winograd: products beyond the edge of the output"
-- model_workspace_bytes = "unrolled input or transformed tensors of the whole batch, by model"
-- workspace_bytes = "as measured or published"
-- time_ns = "measured or published, of the fastest implementation of this method"
-- implementation = "which that is"
-- setting = "its device, threads and type"
-- [headings]
-- waste_pct = "waste of products"
WITH shape AS (
    SELECT DISTINCT ON (problem, batch) problem, batch, label, input_shape, filter_shape, output_shape, stride, padding,
        dilation, groups, dtype
    FROM algorithm_times ORDER BY problem, batch, len(label), label, number
), cost AS (
    SELECT s.problem, s.batch, s.label, c.*
    FROM shape s JOIN method_costs c
        ON s.input_shape = c.input_shape AND s.filter_shape = c.filter_shape AND s.output_shape = c.output_shape
        AND s.stride = c.stride AND s.padding = c.padding AND s.dilation = c.dilation AND s.groups = c.groups
        AND s.dtype IS NOT DISTINCT FROM c.dtype AND NOT c.transposed AND c.direction = $way
), judged AS (
    SELECT s.problem, s.batch, any_value(s.label) AS label, p.method, string_agg(p.algorithm, ', ' ORDER BY p.algorithm)
        AS cudnn, bool_or(p.is_admissible) AS is_admissible, min(p.place) AS place,
        min(array_to_string(p.reasons, '; ')) AS reason
    FROM shape s JOIN problem_algorithms p
        ON s.input_shape = p.input_shape AND s.filter_shape = p.filter_shape AND s.output_shape = p.output_shape
        AND s.stride = p.stride AND s.padding = p.padding AND s.dilation = p.dilation AND s.groups = p.groups
        AND s.dtype IS NOT DISTINCT FROM p.dtype AND NOT p.transposed AND p.direction = $way AND p.arithmetic = 'fp32'
    -- Algorithms without a model for this shape stand for themselves.
    GROUP BY s.problem, s.batch, p.method, if(p.method IS NULL, p.algorithm, NULL)
), timed AS (
    SELECT problem, batch, method, min_by((time_ns, workspace_bytes, concat_ws(' ', backend, implementation), setting),
        (time_ns, number)) AS fast
    FROM algorithm_times WHERE is_timed AND direction = $way GROUP BY problem, batch, method
)
SELECT coalesce(k.label, j.label) AS label, coalesce(k.batch, j.batch) AS batch, k.method, k.library, j.cudnn,
    j.is_admissible AS admissible, j.place, if(j.is_admissible, NULL, j.reason) AS reason,
    concat_ws(' x ', gemm_m, gemm_n, gemm_k) || if(gemms > 1, format(' ({} groups)', gemms), '') AS gemm,
    k.total_flop AS model_flop, k.direct_ratio, k.waste_pct, k.workspace_bytes AS model_workspace_bytes,
    t.fast[2] AS workspace_bytes, t.fast[1] AS time_ns, t.fast[3] AS implementation, t.fast[4] AS setting
FROM cost k FULL JOIN judged j ON j.problem = k.problem AND j.batch IS NOT DISTINCT FROM k.batch AND j.method = k.method
LEFT JOIN timed t ON t.problem = k.problem AND t.batch IS NOT DISTINCT FROM k.batch AND t.method = k.method
ORDER BY label, coalesce(k.problem, j.problem), 2, model_flop NULLS LAST, k.method, cudnn
