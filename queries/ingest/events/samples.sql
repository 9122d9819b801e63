-- title = "Trace events: samples of counters"
-- doc = """A counter event holds one number per series, whatever it is called; a series named like the counter adds
-- nothing to its name."""
SELECT
    id + k AS id, start_ns, pid,
    CASE WHEN series = name OR series IN ('value', '0') THEN name ELSE name || ' ' || series END AS name,
    -- A JSON pointer: a path has no way to name a series with a quote in it.
    TRY_CAST(args ->> ('/' || replace(replace(series, '~', '~0'), '/', '~1')) AS DOUBLE) AS value
FROM (
    SELECT id, start_ns, pid, name, args, unnest(json_keys(args)) AS series, unnest(range(len(json_keys(args)))) AS k
    FROM event WHERE ph = 'C' AND start_ns IS NOT NULL AND json_type(args) = 'OBJECT'
)
WHERE k < 64
