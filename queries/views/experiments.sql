-- doc = "Results of traceview's own experiments, which hold no recording: what made them, and what shows them."
-- [columns]
-- made_by = "the command"
-- report = "the report that shows them"
-- shows = "what it shows"
SELECT DISTINCT ON (c.tool) k.made_by, k.report, k.shows
FROM raw.captures c JOIN (
    VALUES ('traceview tune', 'tune', 'which options made the command faster'),
        ('traceview study', 'study', 'times of convolution algorithms by layer, batch and pass'),
        ('traceview study scaling', 'scaling', 'how training scales over processes and batches'),
        ('traceview study frameworks', 'frameworks', 'the same models in every framework, side by side'),
        ('traceview schedule', 'schedule', 'what each pass of each convolution runs, and why')
) k (made_by, report, shows) ON c.format = 'experiment' AND starts_with(c.tool, k.made_by)
ORDER BY c.tool, len(k.made_by) DESC
