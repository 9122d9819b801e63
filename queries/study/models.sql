-- title = "By model: FLOPs, memory and conditions of every method"
-- doc = """What each method would execute and need for the shapes of this capture, and the time of the fastest
-- implementation
-- that was timed beside it. Conditions and order are those of cuDNN 5.1; `--set way=wgrad` shows another direction."""
-- cannot = "No timed convolution algorithms in this capture; `traceview study` measures or imports them."
-- leave_out = [
--     "waste_pct", "library", "gemm", "direct_ratio", "setting", "batch", "reason", "place", "workspace_bytes",
-- ]
-- [params]
-- way = { type = "VARCHAR", default = "fprop", doc = "direction: fprop, dgrad or wgrad" }
-- [columns]
-- label = "network and layer"
-- batch = "images"
-- algorithm = "see docs/vocabulary.md; the model of several may be one method"
-- method = "the model; empty where it does not apply to this shape"
-- library = "the only one that has this method"
-- admissible = "whether cuDNN's conditions admit the algorithm; empty where cuDNN has none of that name"
-- place = "1 is usually the fastest of the admissible ones"
-- reason = "why it is not admissible"
-- gemm = "M x N x K of the direct method's matrix product (per group)"
-- model_flop = "executed, by model"
-- direct_ratio = "FLOPs of the direct method over these"
-- waste_pct = "Winograd: products beyond the edge of the output"
-- model_workspace_bytes = "unrolled input or transformed tensors of the whole batch, by model"
-- workspace_bytes = "as measured or published"
-- time_ns = "measured or published, of the fastest implementation"
-- setting = "device, threads and type of that"
-- [headings]
-- waste_pct = "waste of products"
WITH shape AS (
    SELECT DISTINCT ON (problem, batch) problem, batch, label, input_shape, filter_shape, output_shape, stride, padding,
        dilation, groups, dtype
    FROM algorithm_times ORDER BY problem, batch, len(label), label, number
), way AS (
    SELECT s.*, m.algorithm, m.method FROM shape s JOIN (SELECT DISTINCT algorithm, method, filter FROM names.method) m
        ON coalesce(m.filter = s.filter_shape[3] AND m.filter = s.filter_shape[4], true)
), cost AS (
    SELECT w.problem, w.batch, w.label, w.algorithm, w.method AS asked,
        -- What only one other library has is not cuDNN's.
        if(c.library IS NULL, p.is_admissible, NULL) AS is_admissible, if(c.library IS NULL, p.place, NULL) AS place,
        p.reasons, c.*
    FROM way w LEFT JOIN method_costs c
        ON w.input_shape = c.input_shape AND w.filter_shape = c.filter_shape AND w.output_shape = c.output_shape
        AND w.stride = c.stride AND w.padding = c.padding AND w.dilation = c.dilation AND w.groups = c.groups
        AND w.dtype IS NOT DISTINCT FROM c.dtype AND NOT c.transposed AND c.direction = $way AND c.method = w.method
    LEFT JOIN problem_algorithms p
        ON w.input_shape = p.input_shape AND w.filter_shape = p.filter_shape AND w.output_shape = p.output_shape
        AND w.stride = p.stride AND w.padding = p.padding AND w.dilation = p.dilation AND w.groups = p.groups
        AND w.dtype IS NOT DISTINCT FROM p.dtype AND NOT p.transposed AND p.direction = $way
        AND p.algorithm = w.algorithm AND p.arithmetic = 'fp32'
    WHERE w.groups > 1 OR w.algorithm NOT IN ('depthwise', 'grouped_direct')
), timed AS (
    SELECT problem, batch, contender, arg_min(time_ns, time_ns) AS time_ns, arg_min(workspace_bytes, time_ns)
        AS workspace_bytes, arg_min(setting, time_ns) AS setting
    FROM algorithm_best WHERE direction = $way GROUP BY problem, batch, contender
)
SELECT k.label, k.batch, k.algorithm, k.method, k.library, k.is_admissible AS admissible, k.place,
    nullif(array_to_string(k.reasons, '; '), '') AS reason,
    concat_ws(' x ', gemm_m, gemm_n, gemm_k) || if(gemms > 1, format(' ({} groups)', gemms), '') AS gemm,
    k.total_flop AS model_flop, k.direct_ratio, k.waste_pct, k.workspace_bytes AS model_workspace_bytes,
    t.workspace_bytes, t.time_ns, t.setting
FROM cost k LEFT JOIN timed t ON t.problem = k.problem AND t.batch IS NOT DISTINCT FROM k.batch
    AND t.contender = k.algorithm
WHERE k.method IS NOT NULL OR k.is_admissible = false AND k.asked IS NOT NULL
ORDER BY k.label, k.problem, k.batch, model_flop NULLS LAST, k.algorithm, k.method, reason
