-- title = "Perfetto: events without a time, those that lost their name, and starts and ends that stand alone"
-- doc = "With some names of the last. A slice of a start and an end that lost its name is two of the events read."
SELECT (SELECT count(*) FROM half WHERE at_ns IS NULL) AS n_untimed, count(*) FILTER (ph = 'lost') AS n_lost,
    CAST(coalesce(sum(n_read) FILTER (ph = 'lost'), 0) AS BIGINT) AS n_lost_read,
    count(*) FILTER (ph IN ('B', 'E')) AS n_alone, list(name ORDER BY id) FILTER (ph IN ('B', 'E'))[:10] AS names
FROM event
