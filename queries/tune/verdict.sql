-- title = "Answer"
-- doc = "The outcome in a sentence, and whether the machine was quiet enough to tell."
-- brief = ""
-- cannot = "No options were tried in this capture."
-- lines = ["{text}"]
-- [columns]
-- position = "order of the sentences"
-- text = "a sentence"
WITH option AS (
    SELECT count(*) FILTER (speedup IS NOT NULL OR pairs > 0 OR verdict = 'cannot decide') AS tried, count(*) AS n,
        count(*) FILTER (verdict = 'cannot decide') AS open, mode(reason) AS reason
    FROM raw.tune_options WHERE kind = 'option'
), best AS (
    SELECT * FROM raw.tune_options WHERE in_best ORDER BY kind <> 'combination' LIMIT 1
), run AS (
    SELECT count(*) AS n, count(*) FILTER (status = 'noisy') AS noisy, median(others_pct) AS others_pct
    FROM raw.tune_runs
), changed AS (
    SELECT string_agg(name, ' and ' ORDER BY place) AS names, count(*) AS n
    FROM raw.tune_options WHERE in_best AND kind = 'option' AND numbers = 'changed'
), line AS (
    SELECT 1 AS position, format('{}: {:.2f} times as fast{}, by {} pair{} of fresh runs{}.',
        (SELECT string_agg(name, ' and ' ORDER BY place) FROM raw.tune_options WHERE in_best AND kind = 'option'),
        speedup, coalesce(format(' ({:.2f} to {:.2f})', low, high), ''), pairs, if(pairs = 1, '', 's'),
        CASE WHEN n > 0 THEN format('; {} change{} the numbers', names, if(n = 1, 's', ''))
            WHEN numbers = 'changed' THEN '; together they change the numbers' ELSE '' END) AS text
    FROM best, changed WHERE verdict = 'faster'
    UNION ALL
    SELECT 1, if(open = n, format('Nothing can be said of {} option{}{}.', n, if(n = 1, '', 's'),
            coalesce(': ' || reason, '')),
        format('Nothing was shown to make the step faster: {} of {} option{} tried{}.', tried, n,
            if(n = 1, '', 's'), coalesce((SELECT format('; of the best, {}: {}', name, verdict) FROM best), '')))
    FROM option WHERE n > 0 AND NOT EXISTS (FROM best WHERE verdict = 'faster')
    UNION ALL
    SELECT 2, format('The machine was busy in {} of {} runs (other programs took {:.0f} % of the cores, median of '
        || 'all).', noisy, n, others_pct)
    FROM run WHERE noisy > 0
)
SELECT position, text FROM line
ORDER BY position
