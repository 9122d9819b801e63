-- title = "Chrome JSON: names and order of processes and threads"
-- doc = "Metadata events."
SELECT CAST(to_json({ph: 'M', name: 'process_name', pid: pid, tid: 0, args: {name: any_value(process_label)}})
    AS VARCHAR) AS event, pid, 0 AS tid, 1 AS place
FROM export_track GROUP BY pid
UNION ALL
SELECT CAST(to_json({ph: 'M', name: 'process_sort_index', pid: pid, tid: 0, args: {sort_index: pid}}) AS VARCHAR),
    pid, 0, 2
FROM export_track GROUP BY pid
UNION ALL
SELECT CAST(to_json({ph: 'M', name: 'thread_name', pid: pid, tid: tid, args: {name: thread_label}}) AS VARCHAR),
    pid, tid, 3
FROM export_track
UNION ALL
SELECT CAST(to_json({ph: 'M', name: 'thread_sort_index', pid: pid, tid: tid, args: {sort_index: tid}}) AS VARCHAR),
    pid, tid, 4
FROM export_track
ORDER BY pid, tid, place
