-- title = "The tracks of an export"
-- doc = """One row per track: a thread, a stream, or a further row of one for what overlaps there. Numbers stand for
-- processes and threads, since several ranks may have used the same ones."""
WITH place AS (
    SELECT rank, process, thread, coalesce(lane, 0) AS lane, any_value(kind) AS kind, any_value(nests) AS nests
    FROM export_slice LEFT JOIN export_lane USING (number)
    GROUP BY ALL
)
SELECT
    rank, process, thread, lane, nests,
    dense_rank() OVER (ORDER BY rank, process <> 'traceview', NOT starts_with(process, 'GPU'), process) AS pid,
    row_number() OVER (ORDER BY rank, process <> 'traceview', NOT starts_with(process, 'GPU'), process,
        thread, lane) AS tid,
    'rank ' || CAST(rank AS VARCHAR) || ' ' || process AS process_label,
    thread || if(lane = 0, '', ' (overlapping ' || CAST(lane AS VARCHAR) || ')') AS thread_label
FROM place
