-- doc = """Different primitives of oneDNN, as calls: sizes and types of their tensors from the problem and the formats
-- that its log has. Arguments of onednn::KIND are, in order: source, weights or second source, result, kernel of a
-- window or bias, and as values the number of sources and which pass."""
-- [columns]
-- ids = "the primitives"
WITH different AS (
    SELECT regexp_replace(kind, '_v\d$', '') AS kind, shape, formats, algorithm_recorded AS algorithm, prop_kind,
        list(id) AS ids
    FROM raw.primitives WHERE shape IS NOT NULL GROUP BY ALL
), read AS (
    -- mb4ic16_ih8oh4kh2sh2dh0ph0_iw8ow4kw2sw2dw0pw0, or sizes between x, tensors between colons. A damaged line may say
    -- one thing twice: TRY.
    SELECT *, TRY(map_from_entries(list_transform(
            regexp_extract_all(shape, '(mb|sic|slc|dhc|dic|ic|oc|id|ih|iw|od|oh|ow|kd|kh|kw|g|l|t)(\d+)'),
            lambda m: {'k': regexp_extract(m, '^[a-z]+'), 'v': TRY_CAST(regexp_extract(m, '\d+') AS BIGINT)}))) AS f,
        list_transform(string_split(shape, ':'), lambda x: coalesce(TRY_CAST(string_split(x, 'x') AS BIGINT[]), [NULL]))
            AS tensors,
        -- src:f32:..., before oneDNN 3 src_f32:...
        nullif(regexp_extract(formats, '(?:^| )(?:diff_)?(?:src|data|src_layer)[:_]([a-z]+\d+)', 1), '') AS source,
        nullif(regexp_extract(formats, '(?:^| )(?:diff_)?dst[:_]([a-z]+\d+)', 1), '') AS result,
        nullif(regexp_extract(formats, '(?:^| )(?:diff_)?bia[:_]([a-z]+\d+)', 1), '') AS bias,
        len(regexp_extract_all(formats, '(?:^| )src[:_]')) AS n_sources
    FROM different
), sized AS (
    SELECT *, if(f['mb'] IS NULL OR f['ic'] IS NULL, NULL,
            list_filter([f['mb'], f['ic'], f['id'], f['ih'], f['iw']], lambda x: x IS NOT NULL)) AS coded,
        if(bias IS NULL, NULL, [f['oc']]) AS added,
        list_filter([f['od'], f['oh'], f['ow']], lambda x: x IS NOT NULL) AS positions,
        list_filter([f['kd'], f['kh'], f['kw']], lambda x: x IS NOT NULL) AS taps,
        CASE split_part(algorithm, ' ', 1) WHEN 'vanilla_rnn' THEN 1 WHEN 'vanilla_lstm' THEN 4
            WHEN 'vanilla_gru' THEN 3 WHEN 'lbr_gru' THEN 3 END AS gates
    FROM read
)
SELECT 'onednn::' || kind AS name, ids,
    CASE WHEN kind = 'inner_product' THEN [coded, [f['oc']] || coded[2:], [f['mb'], f['oc']], added]
        WHEN kind IN ('convolution', 'deconvolution')
            THEN [coded, [f['oc'], f['ic'] // coalesce(f['g'], 1)] || taps, [f['mb'], f['oc']] || positions, added]
        WHEN kind = 'pooling' THEN [coded, NULL, [f['mb'], f['ic']] || positions, taps]
        WHEN kind = 'rnn' THEN [[f['l'], f['t'], f['mb'], f['slc']],
            [if(contains(algorithm, 'bidirectional'), 2, 1), gates, f['dhc'], f['slc'] + f['sic']]]
        WHEN f['mb'] IS NOT NULL THEN [coded] ELSE tensors END AS sizes,
    CASE kind WHEN 'concat' THEN list_transform(tensors, lambda x: source)
        ELSE [source, source, coalesce(result, source), bias] END AS kinds,
    [NULL, NULL, NULL, NULL, CAST(n_sources AS VARCHAR), prop_kind] AS said
FROM sized
