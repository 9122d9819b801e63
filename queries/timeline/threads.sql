-- title = "Threads and streams of an export, numbered"
-- doc = "By rank; traceview's own first, then devices, then processes; as their tracks are."
-- [columns]
-- thread_number = "from 1"
SELECT *, CAST(row_number() OVER (ORDER BY rank, process <> 'traceview', NOT starts_with(process, 'GPU'), process,
    thread) AS INTEGER) AS thread_number
FROM (SELECT rank, process, thread, any_value(nests) AS nests FROM export_chosen GROUP BY ALL)
