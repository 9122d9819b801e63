-- title = "Trace events: samples of counters"
-- doc = "A counter event holds one number per series; a series named like the counter adds nothing to its name."
SELECT
    id + k AS id, start_ns, pid,
    CASE WHEN series = name OR series IN ('value', '0') THEN name ELSE name || ' ' || series END AS name,
    TRY_CAST(args ->> ('$."' || series || '"') AS DOUBLE) AS value
FROM (
    SELECT id, start_ns, pid, name, args, unnest(json_keys(args)) AS series, unnest(range(len(json_keys(args)))) AS k
    FROM event WHERE ph = 'C' AND start_ns IS NOT NULL AND json_type(args) = 'OBJECT'
)
WHERE k < 64
