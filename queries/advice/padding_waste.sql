-- title = "Padding in batches of variable length"
-- doc = """Ranges by which the program says how many elements of a padded batch are real: `traceview.padding: REAL of
-- PADDED`. The bound is the busy time of the device (on a CPU, of the processor) times the share that is padding, for
-- work that grows with the length."""
-- why = "A batch is padded to its longest sequence, and most operators process the padding like real data."
-- cost = "Sorting by length makes the order less random; packed sequences limit the choice of operators."
-- unless = "Most of the time is in work that does not grow with the length."
-- needs = ["steps", "padding_marks"]
-- [fix]
-- pytorch = """a batch sampler that groups sequences of similar length; torch.nested, pack_padded_sequence,
-- variable-length attention (varlen_attn, flash_attn_varlen_func)"""
-- tensorflow = "tf.data.Dataset.bucket_by_sequence_length; ragged tensors; dynamic instead of static unrolling"
-- jax = "several sequences packed into one row, with segment ids; few padded lengths"
-- mxnet = "gluonnlp FixedBucketSampler; BucketSentenceIter"
-- any = "group sequences of similar length into batches"
-- [params]
-- padding_pct = { type = "DOUBLE", default = 10, doc = "found above this share of padding, in percent" }
WITH marked AS (
    SELECT r.rank, r.step, CAST(m[1] AS BIGINT) AS n_real, CAST(m[2] AS BIGINT) AS n_padded
    FROM (SELECT rank, step, regexp_extract_all(name, '\d+') AS m FROM raw.ranges
        WHERE regexp_full_match(name, 'traceview\.padding: \d{1,15} of \d{1,15}')) r
    WHERE (r.rank, r.step) IN (SELECT (rank, step) FROM step_times WHERE NOT is_warmup)
), share AS (
    SELECT rank, greatest(1 - sum(n_real) / nullif(sum(n_padded), 0), 0) AS waste, sum(n_real) AS n_real,
        sum(n_padded) AS n_padded,
        list(format('step {}: {} of {}', step, n_real, n_padded)
            ORDER BY n_padded - n_real DESC, step, n_real)[:10] AS batches
    FROM marked GROUP BY rank
), busy AS (
    SELECT rank, sum(mean_ns / per) AS busy_ns FROM counted GROUP BY rank
)
SELECT s.rank, format('{:.1f} % of {:,} elements are padding.', 100.0 * s.waste, s.n_padded) AS problem, NULL AS place,
    b.busy_ns * s.waste AS saving_ns,
    'high for the counts, which the program gives; not all work grows with the length' AS confidence,
    s.batches AS evidence
FROM share s JOIN busy b USING (rank)
WHERE 100.0 * s.waste > $padding_pct
ORDER BY s.rank
