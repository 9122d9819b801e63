-- title = "Not matched"
-- doc = "Communication calls that were not matched across ranks, and why."
-- cannot = "Every communication call is matched, or there is none."
-- leave_out = ["dur_pct"]
-- [columns]
-- kind = "what is exchanged"
-- reason = "why it is not matched"
-- ranks = "ranks that have such calls"
-- calls = "calls"
-- dur_ns = "sum of their durations"
-- dur_pct = "of the durations of all communication calls"
-- [headings]
-- dur_pct = "of communication"
SELECT what AS kind, unmatched AS reason, count(DISTINCT rank) AS ranks, count(*) AS calls,
    CAST(sum(dur_ns) AS BIGINT) AS dur_ns,
    100.0 * sum(dur_ns) / nullif((SELECT sum(dur_ns) FROM matched_calls), 0) AS dur_pct
FROM matched_calls WHERE unmatched IS NOT NULL
GROUP BY what, unmatched
ORDER BY sum(dur_ns) DESC, kind, reason
