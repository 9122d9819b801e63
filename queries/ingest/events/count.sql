-- title = "Trace events: events in this part of the file, the ones without a time and those of a doubtful duration"
-- doc = "Metadata needs no time; complete events need a start and a duration, all others a start. 604800 s are 7 days."
SELECT
    count(*) AS n_events,
    count(*) FILTER (untimed) AS n_untimed,
    (list(name) FILTER (untimed))[:10] AS examples,
    count(*) FILTER (dur_ns < 0) AS n_negative,
    (list(name) FILTER (dur_ns < 0))[:10] AS negative_examples,
    count(*) FILTER (dur_ns > 604800000000000) AS n_long,
    (list(name) FILTER (dur_ns > 604800000000000))[:10] AS long_examples,
    count(*) FILTER (ph IN ('B', 'E', 'b', 'e') AND start_ns IS NOT NULL) AS n_ends
FROM (SELECT ph, start_ns, dur_ns, coalesce(name, '(no name)') AS name,
        ph <> 'M' AND (start_ns IS NULL OR (ph = 'X' AND dur_ns IS NULL)) AS untimed FROM event)
