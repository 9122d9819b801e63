-- title = "Answers of a rule"
-- doc = """The rows of an advice rule (the table `answer`), with the step that its saving is a share of and cannot
-- exceed. Without steps a count is not a mean: 11 gaps, not 11.0. Of a file that is cut off nothing is more than a
-- guess: where the device seems idle, it may have run what is missing."""
SELECT rank, if(has_steps, problem, regexp_replace(problem, '(\d)\.0( [a-z])', '\1\2', 'g')) AS problem, place,
    CAST(bound_ns AS BIGINT) AS saving_ns, confidence,
    if(has_steps, evidence, [regexp_replace(line, '(\d)\.0( [a-z])', '\1\2', 'g') FOR line IN evidence]) AS evidence,
    step_ns, NULL AS run_ns, 100.0 * bound_ns / nullif(step_ns, 0) AS saving_pct, has_steps
FROM (
    SELECT * REPLACE (if(problem IS NULL OR starts_with(confidence, 'low')
            OR rank NOT IN (SELECT m.rank FROM missing_parts m WHERE m.is_certain), confidence,
        'low: a part of the file is missing, and with it may be what speaks against this') AS confidence),
        round(if(saving_ns > nullif(step_ns, 0), step_ns, saving_ns)) AS bound_ns
    FROM answer JOIN scope USING (rank)
)
ORDER BY rank
