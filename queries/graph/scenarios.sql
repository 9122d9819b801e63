-- title = "What if"
-- doc = """Changes of durations, each a scenario, by task: what stays of it, in percent. Names, categories and layers
-- are those with most time on the path."""
-- [columns]
-- scenario = "its name"
-- number = "the task"
-- stays_pct = "what stays of its duration"
WITH spent AS (
    SELECT t.class, t.kind, t.name, t.category, t.layer, sum(p.dur_ns) AS dur_ns
    FROM critical_piece p JOIN critical_task t ON t.number = p.task WHERE p.edge IS NULL
    GROUP BY ALL
), compute AS (
    SELECT * FROM spent WHERE category NOT IN ('runtime calls', 'host operators', 'communication', 'data loading')
), names AS (
    SELECT name FROM compute GROUP BY name ORDER BY sum(dur_ns) DESC, name LIMIT 5
), categories AS (
    SELECT category FROM compute GROUP BY category ORDER BY sum(dur_ns) DESC, category LIMIT 5
), layers AS (
    SELECT layer FROM compute WHERE layer IS NOT NULL GROUP BY layer ORDER BY sum(dur_ns) DESC, layer LIMIT 3
), device AS (
    SELECT EXISTS (FROM critical_task WHERE class = 0) AS is_there
)
SELECT 'no launch overhead' AS scenario, t.number, 0 AS stays_pct
FROM critical_task t SEMI JOIN critical_task d ON d.launch_id = t.id WHERE t.kind = 'call'
UNION ALL
SELECT 'no host time', t.number, 0 FROM critical_task t, device d WHERE d.is_there AND t.class = 1 AND NOT t.is_sync
UNION ALL
SELECT 'no data loading', number, 0 FROM critical_task WHERE category = 'data loading'
UNION ALL
SELECT 'communication takes no time', number, 0 FROM critical_task WHERE category = 'communication'
    AND NOT EXISTS (FROM critical_fact WHERE kind = 11 AND n > 0)
UNION ALL
SELECT 'twice as fast: ' || name, t.number, 50 FROM critical_task t SEMI JOIN names n ON n.name = t.name
WHERE t.category NOT IN ('runtime calls', 'host operators', 'communication', 'data loading')
UNION ALL
SELECT 'twice as fast: all ' || category, t.number, 50 FROM critical_task t
SEMI JOIN categories c ON c.category = t.category
UNION ALL
SELECT 'twice as fast: layer ' || layer, t.number, 50 FROM critical_task t SEMI JOIN layers y ON y.layer = t.layer
WHERE t.category NOT IN ('runtime calls', 'host operators', 'communication', 'data loading')
ORDER BY scenario, number
