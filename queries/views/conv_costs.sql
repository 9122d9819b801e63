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
-- attainable_flop_per_s = """roofline: the smaller of the peak and intensity times bandwidth; the peak where the
-- bandwidth is not known, NULL where the bytes are not"""
-- peaks_from = "source of the peaks, or unknown, and why"
WITH ways AS (
    SELECT c.op_id, c.rank, c.direction, c.algorithm, c.flop, c.dtype,
        m.method,
        CASE WHEN arithmetic(c.dtype) IN ('bf16', 'fp16') THEN arithmetic(c.dtype)
            WHEN list_bool_or(list_transform(c.evidence, lambda name: is_tf32(name)))
                THEN 'tf32'
            WHEN coalesce(arithmetic(c.dtype), 'fp32') = 'fp32' THEN 'fp32' END AS arithmetic,
        if(c.transposed, c.output_shape, c.input_shape) AS x, if(c.transposed, c.input_shape, c.output_shape) AS y,
        c.filter_shape AS w, c.groups, c.element_bytes
    FROM conv_calls c
    LEFT JOIN names.method m ON m.implementation IS NULL AND m.algorithm = c.algorithm
        AND coalesce(m.filter = c.filter_shape[3], true)
    WHERE c.direction IS NOT NULL AND c.input_shape IS NOT NULL
), sized AS (
    SELECT *,
        convolution_bytes(x, w, y, element_bytes) AS moved_bytes
    FROM ways
), rated AS (
    SELECT s.*, m.total_flop AS executed_flop, d.gemms, d.gemm_m, d.gemm_n, d.gemm_k,
        m.workspace_bytes,
        p.peak_flop_per_s, p.memory_bytes_per_s, coalesce(p.peaks_from, 'unknown') AS peaks_from
    FROM sized s
    LEFT JOIN conv_methods m ON m.op_id = s.op_id AND m.direction = s.direction AND m.method = s.method
    LEFT JOIN conv_methods d ON d.op_id = s.op_id AND d.direction = s.direction AND d.method = 'direct'
    LEFT JOIN peaks p ON p.rank = s.rank AND p.arithmetic = s.arithmetic
)
SELECT op_id, direction, method, arithmetic, flop AS direct_flop, executed_flop, workspace_bytes, gemms, gemm_m,
    gemm_n, gemm_k,
    CAST(moved_bytes AS BIGINT) AS moved_bytes, flop / moved_bytes AS direct_flop_per_byte,
    executed_flop / moved_bytes AS executed_flop_per_byte, peak_flop_per_s, memory_bytes_per_s,
    -- Else NULL would be passed over.
    if(moved_bytes > 0 AND executed_flop > 0,
        least(peak_flop_per_s, executed_flop / moved_bytes * memory_bytes_per_s), NULL) AS attainable_flop_per_s,
    peaks_from
FROM rated
