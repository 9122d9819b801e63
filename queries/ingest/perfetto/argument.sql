-- title = "Perfetto: arguments of events"
-- doc = "One JSON object for each event of the batch that is registered."
SELECT "row", CAST(json_group_object(CAST(key AS VARCHAR),
    CASE WHEN text IS NOT NULL THEN to_json(CAST(text AS VARCHAR)) WHEN whole IS NOT NULL THEN to_json(whole)
        WHEN real IS NOT NULL THEN to_json(real) END) AS VARCHAR) AS args
FROM arguments WHERE key IS NOT NULL
GROUP BY "row"
