-- title = "Times of the plan's algorithms and of PyTorch's own"
-- doc = """Time of each pass alone, measured in turns, in the colour of the algorithm that the plan runs; where it
-- chose no algorithm and no layout, PyTorch's own stays."""
-- cannot = "No plan in this capture."
-- [chart]
-- kind = "bars"
-- label = "pass"
-- group = "runs"
-- colour = "algorithm"
-- parts = ["main_ns"]
-- [columns]
-- pass = "module and direction"
-- runs = "plan, or own: PyTorch's own on plain NCHW"
-- algorithm = "see docs/vocabulary.md"
-- main_ns = "time of the pass alone"
-- status = "chosen, own, dropped (it, or whole steps with it, no faster), not proved"
WITH side AS (
    SELECT place, concat_ws(' ', layer, direction) AS pass, 'own' AS runs, 'PyTorch''s own' AS algorithm,
        own_ns AS main_ns, status
    FROM raw.schedule_layers
    UNION ALL
    SELECT place, concat_ws(' ', layer, direction), 'plan', coalesce(algorithm, 'PyTorch''s own'), time_ns, status
    FROM raw.schedule_layers WHERE status = 'chosen' OR status = 'own' AND layout <> 'nchw'
)
SELECT pass, runs, algorithm, main_ns, status FROM side WHERE main_ns IS NOT NULL
ORDER BY place, pass, runs
