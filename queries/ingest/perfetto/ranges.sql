-- title = "Perfetto: named spans"
-- doc = """All are user ranges, as a program names its spans as it likes, but those whose names say that they are a
-- step, a phase or a module; the category is kept as the domain."""
SELECT id, start_ns, dur_ns, pid, tid, if(range_kind(name) = 'nvtx', 'user', range_kind(name)) AS kind,
    range_name(name) AS name, cat AS domain
FROM event
WHERE ph = 'X' AND dur_ns IS NOT NULL AND goes_to = 'ranges'
