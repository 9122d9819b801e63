-- title = "Answers of a rule"
-- doc = """The rows of an advice rule (the table `answer`), with the step that its saving is a share of and cannot
-- exceed."""
SELECT rank, problem, place, CAST(bound_ns AS BIGINT) AS saving_ns, confidence, evidence, step_ns,
    NULL AS run_ns,    100.0 * bound_ns / nullif(step_ns, 0) AS saving_pct, has_steps
FROM (
    SELECT *, round(if(saving_ns > nullif(step_ns, 0), step_ns, saving_ns)) AS bound_ns
    FROM answer JOIN scope USING (rank)
)
ORDER BY rank
