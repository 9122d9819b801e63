-- title = "Answers of a rule"
-- doc = """The rows of an advice rule (the table `answer`), with what its saving is a share of and cannot exceed (the
-- table `whole`). Without steps a count is not a mean: 11 gaps, not 11.0. Of a file that is cut off nothing is more
-- than a guess: where the device seems idle, it may have run what is missing. A rule that `sees` a part of the work by
-- its operators alone cannot tell where it finds nothing and much of that part is of no known operator."""
-- unseen = """UNION ALL SELECT rank, NULL, 'linked_work', NULL, reason, NULL FROM unlinked
-- WHERE part = '{}' AND NOT EXISTS (FROM found)"""
-- [whole]
-- step = "SELECT rank, step_ns, NULL AS run_ns, has_steps FROM scope"
-- run = "SELECT rank, NULL AS step_ns, run_ns, true AS has_steps FROM recordings"
SELECT rank, if(of_steps, problem, regexp_replace(problem, '(\d)\.0( [a-z])', '\1\2', 'g')) AS problem, place,
    CAST(bound_ns AS BIGINT) AS saving_ns, confidence,
    if(of_steps, evidence, [regexp_replace(line, '(\d)\.0( [a-z])', '\1\2', 'g') FOR line IN evidence]) AS evidence,
    step_ns, run_ns, 100.0 * bound_ns / all_ns AS saving_pct, of_steps AS has_steps
FROM (
    SELECT * REPLACE (if(problem IS NULL OR starts_with(confidence, 'low')
            OR rank NOT IN (SELECT m.rank FROM missing_parts m WHERE m.is_certain), confidence,
        'low: a part of the file is missing, and with it may be what speaks against this') AS confidence),
        nullif(coalesce(step_ns, run_ns), 0) AS all_ns, round(if(saving_ns > all_ns, all_ns, saving_ns)) AS bound_ns,
        coalesce(has_steps, true) AS of_steps
    FROM answer LEFT JOIN whole USING (rank)
)
ORDER BY rank
