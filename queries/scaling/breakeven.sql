-- title = "Break-even batch"
-- doc = """From which batch on more ranks are faster than the fewest. Interpolated: where the speed-up would be 1
-- between the two measured batches around it, by the logarithms of both; no measurement."""
-- cannot = "No scaling study with several batches that gives speed-ups of several ranks."
-- [columns]
-- scaling = "weak: the batch is of a rank; strong: of all ranks together"
-- ranks = "processes"
-- batch = "smallest measured one with a speed-up above 1"
-- interpolated = "between it and the one before, which is no faster"
-- answer = "what that says"
WITH point AS (
    SELECT mode, ranks, base_ranks, if(mode = 'strong', global_batch, batch) AS batch, speedup, verdict, low
    FROM raw.scaling_points WHERE status <> 'published' AND ranks > base_ranks AND speedup > 0
), placed AS (
    SELECT *, lag(batch) OVER one AS before, lag(speedup) OVER one AS speedup_before
    FROM point WHERE batch IS NOT NULL WINDOW one AS (PARTITION BY mode, ranks ORDER BY batch)
), judged AS (
    SELECT mode, ranks, base_ranks, min(batch) FILTER (speedup > 1) AS batch, min(batch) AS least, max(batch) AS most,
        max(batch) FILTER (speedup <= 1) AS last_slow, count(*) AS n, bool_or(verdict = 'too noisy') AS is_noisy,
        if(bool_and(verdict = 'slower'), 'are not', 'were not shown to be') AS are_not
    FROM placed GROUP BY mode, ranks, base_ranks
), later AS (
    SELECT mode, ranks, string_agg(p.batch, ', ' ORDER BY p.batch) AS batches,
        string_agg(DISTINCT p.verdict, ', ' ORDER BY p.verdict) AS verdicts
    FROM placed p JOIN judged j USING (mode, ranks)
    WHERE p.batch > j.batch AND p.verdict <> 'faster' AND p.batch IS DISTINCT FROM j.last_slow GROUP BY mode, ranks
)
SELECT j.mode AS scaling, j.ranks, j.batch,
    round(exp(ln(p.before) + ln(p.speedup_before) / nullif(ln(p.speedup_before) - ln(p.speedup), 0)
        * (ln(p.batch) - ln(p.before))), 1) AS interpolated,
    concat(CASE WHEN j.batch IS NULL
            THEN format('{} ranks {} faster than {} with any batch from {} to {}', j.ranks, are_not, j.base_ranks,
                least, most)
        WHEN last_slow > j.batch THEN format('faster with {}, but not with {} again', j.batch, last_slow)
        WHEN j.batch = least THEN format('{} ranks are faster already with the smallest batch, {}', j.ranks, least)
        ELSE format('faster from {} on', j.batch) END,
        CASE WHEN p.verdict = 'faster' OR j.batch IS NULL THEN ''
            ELSE format(', by an estimate whose verdict is: {}', p.verdict) END,
        CASE WHEN r.batches IS NULL THEN '' ELSE format('; the verdict with {} is: {}', r.batches, r.verdicts) END,
        if(is_noisy AND p.verdict IS DISTINCT FROM 'too noisy', '; some batches are too noisy to tell', '')) AS answer
FROM judged j LEFT JOIN placed p ON p.mode = j.mode AND p.ranks = j.ranks AND p.batch = j.batch
LEFT JOIN later r ON r.mode = j.mode AND r.ranks = j.ranks
WHERE j.n > 1
ORDER BY scaling, j.ranks
