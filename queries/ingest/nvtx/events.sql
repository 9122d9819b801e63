-- title = "NVTX: marks, and ranges that nothing ended"
-- doc = "Everything of NVTX that is not a range."
-- [params]
-- pid = { type = "BIGINT", doc = "the process" }
SELECT id, time_ns AS start_ns, 0 AS dur_ns, $pid AS pid, tid, 'nvtx' AS category,
    if(kind = 'M', 'mark', 'open range') AS phase, name, to_json({domain: domain}) AS args
FROM nvtx
WHERE kind = 'M' OR (kind = 'S' AND id NOT IN (SELECT id FROM stage.ranges))
