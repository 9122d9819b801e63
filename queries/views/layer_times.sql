-- doc = """Times that a framework's log gives per layer and direction, averaged by the log over n calls. A row
-- without a layer is the whole network; run counts the programs whose output the log holds; shape is that of a
-- convolution, where the log tells all of it: images, channels, height and width, filters, filter size, stride,
-- padding."""
-- materialize = true
-- empty_without = ["raw.events"]
-- types = """rank INTEGER, id BIGINT, source VARCHAR, run BIGINT, network VARCHAR, layer VARCHAR, type VARCHAR,
-- impl VARCHAR, direction VARCHAR, dur_ns BIGINT, n BIGINT, deviation_ns BIGINT, workspace VARCHAR, shape VARCHAR,
-- kind VARCHAR"""
SELECT rank, id, source, run, network, layer, type, impl, direction, dur_ns, n, deviation_ns, workspace, shape,
    CASE WHEN layer IS NULL THEN NULL
        WHEN regexp_matches(what, '(?i)conv|corrmm') THEN 'conv'
        WHEN regexp_matches(what, '(?i)pool') THEN 'pooling'
        WHEN regexp_matches(what, '(?i)softmax|loss|entropy') THEN 'softmax_loss'
        WHEN regexp_matches(what, '(?i)relu|sigmoid|tanh|(^|[^a-z])elu') THEN 'activation'
        WHEN regexp_matches(what, '(?i)batch_?norm|(^|[^a-z])bn') THEN 'batch_norm'
        WHEN regexp_matches(what, '(?i)(layer|group|instance|rms)_?norm') THEN 'layer_norm'
        WHEN regexp_matches(what, '(?i)lrn|local_?response|cross_?(map|channel)|^norm\d*$') THEN 'lrn'
        WHEN regexp_matches(what, '(?i)drop') THEN 'dropout_rng'
        WHEN regexp_matches(what, '(?i)inner_?product|dot22|gemm|gemv|matmul|^((transpose)?times$|linear|fc)|dense')
            THEN 'gemm'
        WHEN regexp_matches(what, '(?i)bias|^plus') THEN 'bias'
        WHEN regexp_matches(what, '(?i)elemwise|eltwise|^minus|^element') THEN 'elementwise'
        WHEN regexp_matches(what, '(?i)^reduce|^sum|^argmax') THEN 'reduction'
        WHEN regexp_matches(what, '(?i)concat|slice|split|join') THEN 'concat_split'
        WHEN regexp_matches(what, '(?i)dimshuffle|reorder|transpose') THEN 'layout_transpose'
        ELSE 'other'
    END AS kind
FROM (
    SELECT rank, id, args->>'$.source' AS source, TRY_CAST(args->>'$.run' AS BIGINT) AS run,
        args->>'$.network' AS network,
        args->>'$.layer' AS layer, args->>'$.type' AS type, args->>'$.impl' AS impl, args->>'$.direction' AS direction,
        TRY_CAST(args->>'$.ns' AS BIGINT) AS dur_ns, TRY_CAST(args->>'$.n' AS BIGINT) AS n,
        TRY_CAST(args->>'$.deviation_ns' AS BIGINT) AS deviation_ns, args->>'$.workspace' AS workspace,
        args->>'$.shape' AS shape,
        coalesce(args->>'$.type', args->>'$.layer') AS what
    -- Events of a trace may have that category too; they have a time.
    FROM raw.events WHERE category = 'layer_time' AND start_ns IS NULL
)
