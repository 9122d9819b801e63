-- title = "rocprof JSON: what a program marked, and what is not known"
-- doc = "roctx ranges; a span without the tool's own times is kept as it is."
SELECT id, coalesce(x.begin_ns, e.start_ns) AS start_ns, coalesce(x.end_ns - x.begin_ns, e.dur_ns) AS dur_ns, e.pid,
    e.tid, range_kind(e.name) AS kind, range_name(coalesce(e.name, '')) AS name
FROM event e LEFT JOIN exact x USING (id)
WHERE e.ph = 'X' AND e.start_ns IS NOT NULL AND e.dur_ns IS NOT NULL
    AND (x.id IS NULL OR x.device IS NULL AND NOT x.is_call AND NOT x.is_copy)
