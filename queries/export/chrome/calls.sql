-- title = "Chrome JSON: runtime and driver calls"
-- doc = "With the correlation that joins each to what it launched."
SELECT CAST(json_merge_patch('{}', to_json(
    {ph: 'X', cat: s.recorded_category, name: s.name, pid: s.pid, tid: s.tid, ts: s.ts, dur: s.dur,
        args: {correlation: a.correlation, "External id": a.external_id}})) AS VARCHAR) AS event
FROM export_named s
JOIN api_calls a ON a.id = s.id
WHERE s.kind = 'api_call'
