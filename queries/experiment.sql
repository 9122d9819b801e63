-- title = "What the results of an experiment are"
-- doc = "One sentence where the input holds such results and no recording; no row for any other."
-- [columns]
-- said = "what the input is, and which report shows it"
-- report = "that report"
SELECT format('This is what `{}` measured, not a recording of a run: `traceview report TRACE {}` shows it.', made_by,
    report) AS said, report
FROM experiments
WHERE NOT EXISTS (FROM raw.captures WHERE format != 'experiment')
ORDER BY said
