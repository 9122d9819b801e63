-- title = "nsys stats CSV: NVTX ranges"
-- doc = "Rows of nvtx_pushpop_trace. A domain stands before a colon."
SELECT id, start_ns, dur_ns, pid, tid, 'nvtx' AS kind, regexp_replace(name, '^[^:]*:', '') AS name,
    nullif(regexp_extract(name, '^([^:]*):', 1), '') AS domain
FROM activity
