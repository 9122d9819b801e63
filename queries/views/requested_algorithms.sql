-- doc = """The algorithm that a setting asks for, by direction: Theano's dnn.conv.algo_fwd, algo_bwd_data and
-- algo_bwd_filter, the only ones that name one. Those that let the library choose (guess_*, time_*) ask for none."""
-- [columns]
-- rank = "process of the job"
-- direction = "fprop, dgrad or wgrad"
-- algorithm = "as in conv_calls"
-- setting = "the setting as it was written"
WITH written AS (
    SELECT rank, unnest(regexp_extract_all(environment->>'$.THEANO_FLAGS', 'dnn\.conv\.algo_\w+=\w+')) AS setting
    FROM processes
)
SELECT rank,
    CASE regexp_extract(setting, 'algo_(\w+)=', 1)
        WHEN 'fwd' THEN 'fprop' WHEN 'bwd_data' THEN 'dgrad' WHEN 'bwd_filter' THEN 'wgrad' END AS direction,
    CASE regexp_extract(setting, '=(\w+)', 1) WHEN 'none' THEN 'implicit_gemm' WHEN 'small' THEN 'implicit_precomp_gemm'
        WHEN 'large' THEN 'explicit_gemm' WHEN 'fft' THEN 'fft' WHEN 'fft_tiling' THEN 'fft_tiling'
        WHEN 'winograd' THEN 'winograd' WHEN 'winograd_non_fused' THEN 'winograd_nonfused' END AS algorithm, setting
FROM written
WHERE algorithm IS NOT NULL AND direction IS NOT NULL
