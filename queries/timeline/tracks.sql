-- title = "The tracks of an export"
-- doc = """One row per track: a thread, a stream, or a further row of one for what overlaps there. Numbers stand for
-- processes and threads, since several ranks may have used the same ones."""
-- [columns]
-- pid = "number of the group of tracks"
-- tid = "number of the track"
-- origin_ns = "what is taken from times, so that none is negative: tools drop what begins before zero"
WITH place AS (
    SELECT s.thread_number, coalesce(l.lane, 0) AS lane, count(*) AS n_slices
    FROM export_slice s LEFT JOIN export_lane l ON l.number = s.number
    GROUP BY ALL
)
SELECT
    rank, process, thread, thread_number, lane, nests,
    dense_rank() OVER (ORDER BY rank, process <> 'traceview', NOT starts_with(process, 'GPU'), process) AS pid,
    row_number() OVER (ORDER BY thread_number, lane) AS tid, n_slices, origin_ns,
    'rank ' || CAST(rank AS VARCHAR) || ' ' || process
        || if(moved_ns = 0, '', format(' (clock moved by {:,.1f} us)', -moved_ns / 1e3)) AS process_label,
    thread || if(lane = 0, '', ' (overlapping ' || CAST(lane AS VARCHAR) || ')') AS thread_label
FROM place JOIN export_thread USING (thread_number) JOIN export_window USING (rank)
CROSS JOIN (SELECT least(0, min(start_ns)) AS origin_ns FROM export_row)
