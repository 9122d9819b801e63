-- title = "Ranks"
-- doc = "Summary of matched collectives, in sentences."
-- brief = ""
-- cannot = "One rank, or no communication: there is nothing to compare."
-- lines = ["{text}"]
-- [columns]
-- position = "order of the sentences"
-- text = "a sentence"
WITH call AS (
    SELECT * FROM rank_waits WHERE is_counted
), total AS (
    SELECT count(DISTINCT match_id) AS matches, sum(wait_ns) AS wait_ns, sum(dur_ns) AS dur_ns,
        sum(wait_ns / per) / count(DISTINCT rank) AS wait_step_ns, max(error_ns) AS error_ns,
        string_agg(DISTINCT matched_by, ', ' ORDER BY matched_by) AS matched_by, count(DISTINCT rank) AS ranks,
        count(DISTINCT match_id) FILTER (is_last) AS told,
        string_agg(DISTINCT clock, '; ' ORDER BY clock) AS clocks
    FROM call
), said AS (
    SELECT count(DISTINCT rank) AS ranks, count(*) AS calls, count(*) FILTER (match_id IS NOT NULL) AS matched
    FROM matched_calls WHERE is_counted
), worst AS (
    SELECT * FROM rank_totals WHERE last > 0 ORDER BY caused_ns DESC, rank LIMIT 1
), line AS (
    SELECT 1 AS position, format('{} of {} communication calls of {} ranks are matched{}.', matched, calls, said.ranks,
        coalesce(', by ' || matched_by, '')) AS text
    FROM said, total WHERE said.ranks > 1
    UNION ALL
    SELECT 2, format('Clocks: {}; error {}.', clocks, CASE WHEN clocks = 'one host' THEN 'none known'
        WHEN error_ns IS NULL THEN 'unknown (too few collectives)'
        ELSE format('at most {:.1f} us for 80 % of the ends', error_ns / 1e3) END)
    FROM total WHERE matches > 0
    UNION ALL
    SELECT 3, format('Of the time in collectives {:.1f} % is waiting for the last rank ({:.3f} ms per step and rank), '
        || 'the rest transfer.', 100.0 * wait_ns / dur_ns, wait_step_ns / 1e6)
    FROM total WHERE dur_ns > 0
    UNION ALL
    SELECT 4, format('Rank {} is last most to the cost of the others: in {} of {} collectives, by a median of {:.3f} '
        || 'ms; others then wait {:.3f} ms per step on average{}.', w.rank, w.last, t.matches, w.lead_ns / 1e6,
        w.caused_ns / 1e6, coalesce('. Before them it spent longer on ' || array_to_string(list_transform(w.excess[:2],
            lambda x: format('{} ({:.3f} ms per step)', x.part, x.excess_ns / w.per / 1e6)), ' and '), ''))
    FROM worst w, total t
    UNION ALL
    SELECT 5, 'No rank is the last by more than the error of the clocks.' FROM total WHERE matches > 0 AND told = 0
)
SELECT position, text FROM line
ORDER BY position
