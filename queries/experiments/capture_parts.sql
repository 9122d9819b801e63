-- title = "Parts of the recorded steps"
-- doc = """Device time by layer, category, library and pass, a step; of a log of averages, what it gives for each
-- layer. Rows with a form are the biases and activations of such a log once more, told by pass; of other recordings the
-- report pointwise has them."""
-- [columns]
-- layer = "layer; none for what belongs to none"
-- category = "what it was (docs/vocabulary.md); with a form also the gradient of a bias or activation"
-- library = "library that implements it"
-- pass = "forward, backward or other; both where a log does not tell; none of rows with a form"
-- form = "how the bias or activation is computed; none of rows that are all of the time"
-- calls = "per step"
-- busy_ns = "per step, overlaps counted once"
WITH averaged AS (
    -- Of a log that gives the gradients and their sum, the sum counts; one of several implementations says nothing.
    SELECT layer, kind, sum(dur_ns) FILTER (direction = 'forward') AS forward_ns,
        coalesce(sum(dur_ns) FILTER (direction = 'backward'),
            sum(dur_ns) FILTER (direction LIKE 'backward\_%' ESCAPE '\')) AS backward_ns,
        coalesce(sum(dur_ns) FILTER (direction = 'forward_backward'), 0)
            + coalesce(sum(dur_ns) FILTER (direction IS NULL), 0) AS both_ns
    FROM layer_times WHERE layer IS NOT NULL AND NOT EXISTS (FROM totals WHERE is_counted OR is_carried)
    GROUP BY layer, kind
), passes AS (
    SELECT layer, unnest([
        {category: kind, pass: 'forward', form: NULL, busy_ns: forward_ns},
        {category: kind, pass: 'backward', form: NULL, busy_ns: backward_ns},
        {category: kind, pass: 'both', form: NULL, busy_ns: nullif(both_ns, 0)},
        {category: kind, pass: NULL, form: 'operator', busy_ns: nullif(forward_ns, 0)},
        {category: kind || ' gradient', pass: NULL, form: 'operator', busy_ns: nullif(backward_ns, 0)}]) AS part
    FROM averaged
)
SELECT layer, category, library, pass, NULL AS form, sum(n / per_rank) FILTER (is_continued IS NOT true) AS calls,
    sum(alone_ns / per_rank) AS busy_ns
FROM passed WHERE is_counted OR is_carried
GROUP BY layer, category, library, pass
UNION ALL
SELECT layer, part.category, NULL, part.pass, part.form, 1, part.busy_ns FROM passes
WHERE part.busy_ns IS NOT NULL AND (part.form IS NULL OR regexp_matches(part.category, '^(bias|activation)'))
ORDER BY ALL
