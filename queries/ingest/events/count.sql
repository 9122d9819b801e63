-- title = "Trace events: events in this part of the file, and the ones without a time"
-- doc = "Metadata needs no time; complete events need a start and a duration, all others a start."
SELECT
    count(*) AS n_events,
    count(*) FILTER (untimed) AS n_untimed,
    (list(name) FILTER (untimed))[:10] AS examples
FROM (SELECT coalesce(name, '(no name)') AS name,
        ph <> 'M' AND (start_ns IS NULL OR (ph = 'X' AND dur_ns IS NULL)) AS untimed FROM event)
