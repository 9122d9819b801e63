-- title = "Answer"
-- doc = "Whether the training step is faster with the plan, in a sentence."
-- brief = ""
-- cannot = "No plan in this capture. `traceview schedule ... -o FOLDER --resume` continues a stopped one."
-- lines = ["{text}"]
-- [columns]
-- position = "order of the sentences"
-- text = "a sentence"
WITH plan AS (
    SELECT * REPLACE (verdict || if(clock = 'processor', ' (processor time)', '') AS verdict),
        NOT EXISTS (FROM raw.schedule_layers WHERE status = 'chosen' OR layout <> 'nchw') AS is_empty,
        -- Wall times are judged by quiet rounds alone, processor times by all.
        pairs + if(clock = 'wall', noisy_pairs, 0) AS rounds
    FROM raw.schedule_plans WHERE name = 'the plan'
)
SELECT 1 AS position, CASE
    WHEN is_empty THEN 'The plan is empty: PyTorch''s own algorithms stay'
        || coalesce('; whole steps with what was chosen first: ' || verdict, '') || '.'
    WHEN verdict = 'faster' THEN format('With the plan a training step is {:.2f} times as fast{}, by {} rounds of '
        || 'fresh processes; convolutions alone {:.2f} times, as measured by themselves.', speedup,
        coalesce(format(' ({:.2f} to {:.2f})', low, high), ''), pairs, modelled_speedup)
    WHEN verdict = 'faster (processor time)' THEN format('Without the plan a training step takes {:.2f} times the '
        || 'processor time{}, by {} rounds of fresh processes; its wall time cannot be told. Convolutions alone: '
        || '{:.2f} times as fast, as measured by themselves.', speedup,
        coalesce(format(' ({:.2f} to {:.2f})', low, high), ''), pairs, modelled_speedup)
    ELSE format('The plan makes the measured convolutions {:.2f} times as fast; whole steps: {}.', modelled_speedup,
        coalesce(verdict, 'not measured')) END AS text
FROM plan
UNION ALL
SELECT 2, format('The machine was busy in {} of {} rounds: other programs took a tenth of the cores.', noisy_pairs,
    rounds)
FROM plan WHERE noisy_pairs > 0
UNION ALL
SELECT 3, format('While {} of {} convolutions were timed, other programs took a tenth of the cores or more, at most '
    || '{:.0f} %: {}.', count(DISTINCT layer) FILTER (others_pct >= 10), count(DISTINCT layer), max(others_pct),
    if(max(threads) = 1, 'times are processor time, which they disturb less',
        'on an idle machine the choice may be another one'))
FROM raw.algorithm_times WHERE EXISTS (FROM plan) HAVING max(others_pct) >= 10
ORDER BY position
