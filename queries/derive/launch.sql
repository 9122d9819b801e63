-- title = "Calls by their correlation"
-- doc = """A call of the runtime and that of the driver inside of it may share their number. One that several others
-- have, as where two processes are in one file, leads nowhere; 0 is that of no call (CUPTI)."""
SELECT correlation, arg_min(id, start_ns) AS id, min(start_ns) AS start_ns
FROM stage.api_calls
WHERE correlation <> 0
GROUP BY correlation
HAVING max(start_ns) <= arg_min(start_ns + dur_ns, start_ns) AND min(pid) IS NOT DISTINCT FROM max(pid)
    AND min(tid) IS NOT DISTINCT FROM max(tid)
