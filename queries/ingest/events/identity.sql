-- title = "Ranks of the job, process and last time of a trace, by its own account"
-- doc = """world_size is 0 and process NULL where nothing tells. Of Kineto the process is that of its operators (other
-- tools may number processes anew), or the host and number in the name that tensorboard_trace_handler gives a file."""
WITH event AS (
    SELECT start_ns, dur_ns FROM stage.ops UNION ALL SELECT start_ns, dur_ns FROM stage.api_calls
    UNION ALL SELECT start_ns, dur_ns FROM stage.ranges UNION ALL SELECT start_ns, dur_ns FROM stage.kernels),
operator AS (SELECT min(pid) AS pid FROM stage.ops WHERE EXISTS (FROM stage.captures WHERE format = 'kineto')),
worker AS (SELECT min(nullif(regexp_extract(source, '^(.+_\d+)\.\d{13,}\.pt\.trace\.json', 1), '')) AS name
    FROM stage.captures)
SELECT coalesce(max(r.world_size), 0) AS world_size,
    'process ' || coalesce(coalesce(max(r.pid), any_value(o.pid)) || ' of ' || left(max(r.host), 60),
        left(any_value(w.name), 60)) AS process,
    (SELECT max(start_ns + dur_ns) FROM event) AS latest_ns
FROM stage.ranks r, operator o, worker w
