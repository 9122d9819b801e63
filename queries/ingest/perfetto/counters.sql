-- title = "Perfetto: samples of counters"
-- doc = """Under the name of their track, whose description has their unit. Incremental ones add to the last since
-- their sequence cleared its state, as the format has it."""
SELECT id, start_ns, pid, name, if(isfinite(value), value, 0) AS value
FROM (
    SELECT id, start_ns, pid, coalesce(thread, name) AS name,
        coalesce(unit, 1) * if(is_incremental, sum(value) OVER (PARTITION BY track, generation ORDER BY id), value)
            AS value
    FROM event WHERE ph = 'C'
)
