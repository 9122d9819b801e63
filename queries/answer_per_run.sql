-- title = "Answers of a rule about what happens once per run"
-- doc = """The rows of an advice rule (the table `answer`) whose amount lies outside the steps that count: a share
-- of the recording, which it cannot exceed, and never of a step."""
SELECT rank, problem, place, CAST(bound_ns AS BIGINT) AS saving_ns, confidence, evidence, NULL AS step_ns, run_ns,
    100.0 * bound_ns / nullif(run_ns, 0) AS saving_pct, true AS has_steps
FROM (
    SELECT * REPLACE (if(problem IS NULL OR starts_with(confidence, 'low')
            OR rank NOT IN (SELECT m.rank FROM missing_parts m WHERE m.is_certain), confidence,
        'low: a part of the file is missing, and with it may be what speaks against this') AS confidence),
        round(if(saving_ns > nullif(run_ns, 0), run_ns, saving_ns)) AS bound_ns
    FROM answer LEFT JOIN recordings USING (rank)
)
ORDER BY rank
