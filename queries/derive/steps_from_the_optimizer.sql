-- title = "Steps from one optimizer call to the next"
-- doc = """A step ends when the optimizer does. Where several optimizers take turns, the one that is called first
-- counts."""
-- [params]
-- why = { type = "VARCHAR", doc = "what the domain of the ranges is to say" }
WITH optimizer AS (
    SELECT id, pid, tid, start_ns, start_ns + dur_ns AS end_ns, domain
    FROM stage.ranges WHERE kind = 'phase' AND name = 'optimizer'
), chosen AS (
    SELECT * FROM optimizer WHERE domain IS NOT DISTINCT FROM (SELECT arg_min(domain, start_ns) FROM optimizer)
), bounded AS (
    SELECT *, lag(end_ns) OVER (ORDER BY start_ns, id) AS previous_ns, row_number() OVER (ORDER BY start_ns, id) AS n
    FROM chosen
)
-- Above the number of every recorded event.
SELECT (CAST(1 AS BIGINT) << 39) + n AS id, pid, tid, previous_ns AS start_ns, end_ns - previous_ns AS dur_ns,
    'step' AS kind, CAST(n - 1 AS VARCHAR) AS name, $why AS domain
FROM bounded WHERE previous_ns IS NOT NULL AND end_ns > previous_ns
