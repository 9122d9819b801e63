-- title = "Kineto: everything else"
-- doc = "Events that no other table takes, with their arguments as JSON; process and thread names among them."
SELECT
    id, coalesce(start_ns, 0) AS start_ns, greatest(coalesce(dur_ns, 0), 0) AS dur_ns, pid, tid,
    cat AS category, ph AS phase, name,
    nullif(CAST(json_extract(line, '$.args') AS VARCHAR), 'null') AS args
FROM event
WHERE goes_to = 'events'
