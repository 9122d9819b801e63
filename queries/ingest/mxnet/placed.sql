-- title = "MXNet: operators of the workers of a GPU"
-- doc = "A process per device, named gpu/0 and so on."
SELECT e.id, e.start_ns, e.dur_ns, e.tid, regexp_replace(e.name, '^\[(\w+)\]$', '\1') AS name,
    TRY_CAST(regexp_extract(l.label, '^gpu/(\d+)$', 1) AS BIGINT) AS device,
    MAP {'CopyCPU2GPU': 'HtoD', 'CopyGPU2CPU': 'DtoH', 'CopyGPU2GPU': 'DtoD'}[e.name] AS direction
FROM event e JOIN (SELECT pid, any_value(label) AS label FROM label WHERE tid IS NULL GROUP BY pid) l ON l.pid = e.pid
WHERE e.ph = 'X' AND e.cat = 'operator' AND e.dur_ns IS NOT NULL AND e.start_ns IS NOT NULL
    AND regexp_matches(l.label, '^gpu/\d{1,9}$')
