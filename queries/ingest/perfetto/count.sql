-- title = "Perfetto: events without a time, and starts and ends that stand alone"
-- doc = "With some names of the latter."
SELECT (SELECT count(*) FROM half WHERE at_ns IS NULL) AS n_untimed, count(*) AS n_alone,
    list(name ORDER BY id)[:10] AS names
FROM event WHERE ph IN ('B', 'E')
