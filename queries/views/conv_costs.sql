-- doc = """Costs by model of the algorithm that a convolution call used: executed FLOPs and workspace, its matrix
-- product, the bytes it must move at least, and the device's peaks. One row per row of conv_calls that has shapes."""
-- materialize = true
-- empty_without = ["conv_calls"]
-- types = """op_id BIGINT, direction VARCHAR, method VARCHAR, arithmetic VARCHAR, direct_flop BIGINT,
-- executed_flop DOUBLE, workspace_bytes BIGINT, gemms BIGINT, gemm_m BIGINT, gemm_n BIGINT, gemm_k BIGINT,
-- moved_bytes BIGINT, direct_flop_per_byte DOUBLE, executed_flop_per_byte DOUBLE, peak_flop_per_s DOUBLE,
-- memory_bytes_per_s DOUBLE, attainable_flop_per_s DOUBLE, peaks_from VARCHAR"""
-- [columns]
-- op_id = "the convolution call"
-- direction = "fprop, dgrad or wgrad"
-- method = "the model of the algorithm that ran (see conv_methods)"
-- arithmetic = "type of the products: fp32, tf32, fp16, bf16; NULL for another"
-- direct_flop = "multiplications and additions of the direct method"
-- executed_flop = "of the algorithm that ran, by model"
-- workspace_bytes = "of the algorithm that ran, by model"
-- gemms = "matrix products: one per group"
-- gemm_m = "rows of one product"
-- gemm_n = "columns of one product"
-- gemm_k = "summed dimension of one product"
-- moved_bytes = "input, filter and output, each moved once"
-- direct_flop_per_byte = "arithmetic intensity of the direct method"
-- executed_flop_per_byte = "arithmetic intensity of the algorithm that ran"
-- peak_flop_per_s = "of the device for this arithmetic; NULL where unknown"
-- memory_bytes_per_s = "of the device; NULL where unknown"
-- attainable_flop_per_s = "roofline: the smaller of the peak and intensity times bandwidth"
-- peaks_from = "source of the peaks, or unknown"
WITH ways AS (
    SELECT c.op_id, c.rank, c.direction, c.algorithm, c.flop, c.dtype,
        m.method,
        CASE WHEN c.dtype ILIKE '%bfloat16%' OR c.dtype ILIKE 'bf16' THEN 'bf16'
            WHEN c.dtype ILIKE '%half%' OR c.dtype ILIKE 'f16' OR c.dtype ILIKE 'float16' THEN 'fp16'
            WHEN list_bool_or(list_transform(c.evidence, lambda name: regexp_matches(name, '(?i)tf32|s1688')))
                THEN 'tf32'
            WHEN c.dtype IS NULL OR regexp_matches(c.dtype, '(?i)^(f32|float|float32|c10::float)$')
                THEN 'fp32' END AS arithmetic,
        if(c.transposed, c.output_shape, c.input_shape) AS x, if(c.transposed, c.input_shape, c.output_shape) AS y,
        c.filter_shape AS w, c.groups, c.element_bytes
    FROM conv_calls c
    LEFT JOIN names.method m ON m.implementation IS NULL AND m.algorithm = c.algorithm
        AND coalesce(m.filter = c.filter_shape[3], true)
    WHERE c.direction IS NOT NULL AND c.input_shape IS NOT NULL
), sized AS (
    SELECT *,
        element_bytes * (list_product(x) + list_product(w) + list_product(y)) AS moved_bytes
    FROM ways
), rated AS (
    SELECT s.*, m.total_flop AS executed_flop, d.gemms, d.gemm_m, d.gemm_n, d.gemm_k,
        m.workspace_bytes,
        CASE s.arithmetic WHEN 'fp32' THEN p.fp32_flop_per_s WHEN 'tf32' THEN p.tf32_flop_per_s
            WHEN 'fp16' THEN p.fp16_flop_per_s WHEN 'bf16' THEN p.bf16_flop_per_s END AS peak_flop_per_s,
        p.memory_bytes_per_s, coalesce(p.peaks_from, 'unknown') AS peaks_from
    FROM sized s
    LEFT JOIN conv_methods m ON m.op_id = s.op_id AND m.direction = s.direction AND m.method = s.method
    LEFT JOIN conv_methods d ON d.op_id = s.op_id AND d.direction = s.direction AND d.method = 'direct'
    -- Of devices of several kinds a call does not say on which it ran.
    LEFT JOIN (FROM device_peaks WHERE is_used QUALIFY row_number() OVER (PARTITION BY rank ORDER BY device) = 1
        AND min(name) OVER (PARTITION BY rank) IS NOT DISTINCT FROM max(name) OVER (PARTITION BY rank)) p
        ON p.rank = s.rank
)
SELECT op_id, direction, method, arithmetic, flop AS direct_flop, executed_flop, workspace_bytes, gemms, gemm_m,
    gemm_n, gemm_k,
    CAST(moved_bytes AS BIGINT) AS moved_bytes, flop / moved_bytes AS direct_flop_per_byte,
    executed_flop / moved_bytes AS executed_flop_per_byte, peak_flop_per_s, memory_bytes_per_s,
    least(peak_flop_per_s, executed_flop / moved_bytes * memory_bytes_per_s) AS attainable_flop_per_s, peaks_from
FROM rated
