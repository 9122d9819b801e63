-- title = "Answers of a rule"
-- doc = """The rows of an advice rule (the table `answer`), with the step that its saving is a share of and cannot
-- exceed. Without steps a count is not a mean: 11 gaps, not 11.0."""
SELECT rank, if(has_steps, problem, regexp_replace(problem, '(\d)\.0( [a-z])', '\1\2', 'g')) AS problem, place,
    CAST(bound_ns AS BIGINT) AS saving_ns, confidence,
    if(has_steps, evidence, [regexp_replace(line, '(\d)\.0( [a-z])', '\1\2', 'g') FOR line IN evidence]) AS evidence,
    step_ns, NULL AS run_ns, 100.0 * bound_ns / nullif(step_ns, 0) AS saving_pct, has_steps
FROM (
    SELECT *, round(if(saving_ns > nullif(step_ns, 0), step_ns, saving_ns)) AS bound_ns
    FROM answer JOIN scope USING (rank)
)
ORDER BY rank
