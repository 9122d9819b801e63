-- doc = """Stretches of time in which the host captures the launches of a stream as a graph, or makes a captured graph
-- ready to run: what it launches meanwhile does not run, so a device that has nothing to do is not waiting for it."""
-- materialize = true
-- empty_without = ["raw.api_calls"]
-- types = """rank INTEGER, start_ns BIGINT, end_ns BIGINT"""
-- [columns]
-- start_ns = "start of the call that begins the capture, or of the one that makes the graph ready"
-- end_ns = "end of the call that ends the capture; of the last one on its thread where none does"
WITH call AS (
    SELECT rank, pid, tid, name, start_ns, start_ns + dur_ns AS end_ns,
        regexp_matches(name, '(?i)^(cuda|cu|hip)(Thread)?(Stream)?BeginCapture') AS begins,
        regexp_matches(name, '(?i)^(cuda|cu|hip)(Stream)?EndCapture') AS ends
    FROM raw.api_calls WHERE name ILIKE '%Capture%' OR name ILIKE '%GraphInstantiate%'
), bounded AS (
    SELECT *, coalesce(min(end_ns) FILTER (ends) OVER later, max(end_ns) OVER later, end_ns) AS until_ns
    FROM call
    WINDOW later AS (PARTITION BY rank, pid, tid ORDER BY start_ns ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
)
SELECT rank, start_ns, if(begins, until_ns, end_ns) AS end_ns
FROM bounded WHERE begins OR name ILIKE '%GraphInstantiate%'
