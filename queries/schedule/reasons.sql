-- title = "Why"
-- doc = """The margin over the next best algorithm, and what kept the others out; those that gain most first."""
-- top = 12
-- cannot = "No plan in this capture. `traceview schedule ... -o FOLDER --resume` continues a stopped one."
-- [headings]
-- margin = "next best takes, times"
-- [columns]
-- layer = "name of the module"
-- direction = "fprop, dgrad or wgrad"
-- why = "what decided"
-- second = "the next best of another algorithm or size of tiles, or a faster one of the same"
-- margin = """its time over that of the choice; below 1 where it demands another layout, is not exact enough, does not
-- fit the cap, or was slower within steps"""
SELECT layer, direction, CASE
        WHEN status = 'chosen' AND in_step_ns IS NOT NULL
            THEN format('{}, and {:.2f} times as fast within the step',
                if(second_ns < time_ns, 'not the least by itself', 'least time'),
                own_in_step_ns / nullif(in_step_ns, 0))
        -- Above the share of PyTorch's own time that proof.py asks for (GAINS) a pass leaves the plan by itself.
        WHEN status = 'dropped' AND in_step_ns > 0.98 * own_in_step_ns
            THEN if(second_ns < time_ns, 'not the least by itself, and', 'least time alone, but')
                || ' no faster within the step'
        WHEN status = 'dropped'
            THEN if(in_step_ns IS NULL, '', 'faster within the step, but ') || 'whole steps with it were no faster'
        WHEN status = 'not proved' THEN 'the whole step was not shown to be faster'
        WHEN reason IS NOT NULL THEN concat('nothing else can: ', reason)
        WHEN second_ns < time_ns THEN format('the second is faster by itself, but ruled out by layout conversions{} or '
            || 'the error or memory limits', if(status = 'own', ', whole steps', ''))
        WHEN status = 'chosen' THEN 'least time'
        ELSE 'no faster algorithm within the error and memory limits'
    END AS why, second, round(second_ns / nullif(time_ns, 0), 2) AS margin
FROM raw.schedule_layers
ORDER BY own_ns - time_ns DESC, place, direction
