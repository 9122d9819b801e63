-- title = "MXNet: operators"
-- doc = """One span per operator on a worker thread of a device. The graph executor writes an operator's name in
-- brackets, a bulk's as a list. The layer is what the collector found. On a GPU the number of the event leads from what
-- the device did to its operator."""
SELECT e.id, CASE WHEN regexp_matches(l.label, '^gpu/\d{1,9}$') THEN e.id END AS external_id, e.start_ns, e.dur_ns,
    e.pid, e.tid, regexp_replace(e.name, '^\[(\w+)\]$', '\1') AS name, l.label AS backend,
    e.args ->> '$.layer' AS module_hierarchy
FROM event e LEFT JOIN (SELECT pid, any_value(label) AS label FROM label WHERE tid IS NULL GROUP BY pid) l
    ON l.pid = e.pid
WHERE e.ph = 'X' AND e.cat = 'operator' AND e.dur_ns IS NOT NULL AND e.start_ns IS NOT NULL
