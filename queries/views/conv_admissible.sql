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
    SELECT c.*, CASE WHEN k.arithmetic IS NOT NULL THEN k.arithmetic
            WHEN regexp_matches(c.dtype, '(?i)double|64') THEN 'fp64'
            WHEN regexp_matches(c.dtype, '(?i)^([su]8|u?int8|char|byte)') THEN 'int8' END AS arithmetic
    FROM conv_calls c LEFT JOIN conv_costs k USING (op_id, direction)
    WHERE c.direction IS NOT NULL AND c.flop IS NOT NULL
        AND c.rank IN (SELECT rank FROM raw.kernels)
            AND NOT coalesce(list_has_any(c.libraries, ['miopen', 'tensile', 'onednn']), false)
        AND c.rank NOT IN (SELECT rank FROM known_devices
            WHERE kind IS DISTINCT FROM 'cpu' AND regexp_matches(coalesce(product, name),
                '(?i)\b(AMD|Intel|Arc|Apple|MTIA|Gaudi)\b|radeon|instinct|^MI\d|ascend'))
)
SELECT c.op_id, c.direction, p.algorithm, coalesce(p.algorithm = c.algorithm, false) AS is_used, p.is_admissible,
    p.reasons, p.needs, p.place, p.tendency, p.tendency_source,
    CASE WHEN p.is_admissible THEN CASE p.algorithm WHEN 'implicit_gemm' THEN 0 WHEN 'implicit_precomp_gemm' THEN NULL
        ELSE m.workspace_bytes END END AS workspace_bytes,
    CASE WHEN p.is_admissible THEN m.direct_ratio END AS direct_ratio, p.memory
FROM call c JOIN problem_algorithms p
    ON c.input_shape = p.input_shape AND c.filter_shape = p.filter_shape
    AND c.output_shape IS NOT DISTINCT FROM p.output_shape AND c.stride IS NOT DISTINCT FROM p.stride
    AND c.padding IS NOT DISTINCT FROM p.padding AND c.dilation IS NOT DISTINCT FROM p.dilation AND c.groups = p.groups
    AND c.transposed = p.transposed AND c.dtype IS NOT DISTINCT FROM p.dtype AND c.direction = p.direction
    AND c.arithmetic IS NOT DISTINCT FROM p.arithmetic
LEFT JOIN conv_methods m ON m.op_id = c.op_id AND m.direction = c.direction AND m.method = p.method
