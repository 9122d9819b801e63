-- doc = """Choice of the algorithm of convolutions by a recorded setting of the library: by a search, by its rule of
-- thumb, or as the setting names it. One row per rank; NULL where no such setting was recorded."""
-- [columns]
-- rank = "process of the job"
-- setting = "the setting, in words"
-- way = "search, heuristic or fixed"
WITH said AS (
    SELECT rank, flags->>'$."cudnn.benchmark"' AS benchmark, environment->>'$.TF_CUDNN_USE_AUTOTUNE' AS tensorflow,
        environment->>'$.MXNET_CUDNN_AUTOTUNE_DEFAULT' AS mxnet,
        regexp_extract(environment->>'$.XLA_FLAGS', 'xla_gpu_autotune_level=(\d)', 1) AS xla,
        regexp_extract(environment->>'$.THEANO_FLAGS', 'dnn\.conv\.algo_\w+=(\w+)', 1) AS theano
    FROM processes
)
SELECT rank,
    CASE WHEN benchmark = 'false' THEN 'torch.backends.cudnn.benchmark is False'
        WHEN benchmark = 'true' THEN 'torch.backends.cudnn.benchmark is True'
        WHEN tensorflow IN ('0', '1') THEN 'TF_CUDNN_USE_AUTOTUNE is ' || tensorflow
        WHEN mxnet IN ('0', '1', '2') THEN 'MXNET_CUDNN_AUTOTUNE_DEFAULT is ' || mxnet
        WHEN xla <> '' THEN 'XLA_FLAGS hold xla_gpu_autotune_level=' || xla
        WHEN theano <> '' THEN 'THEANO_FLAGS ask for ' || theano END AS setting,
    CASE WHEN '0' IN (tensorflow, mxnet, xla) OR benchmark = 'false' OR theano LIKE 'guess%' THEN 'heuristic'
        WHEN benchmark = 'true' OR tensorflow = '1' OR mxnet IN ('1', '2') OR xla <> '' OR theano LIKE 'time%'
            THEN 'search'
        WHEN theano <> '' THEN 'fixed' END AS way
FROM said
