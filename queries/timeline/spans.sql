-- title = "The slices of one rank as spans on numbered threads"
-- doc = "By thread, start, longest first, number; of the rank in the variable export_rank."
-- [columns]
-- nests = "1 where slices of the thread may lie inside each other, else 0"
SELECT number, dense_rank() OVER (ORDER BY process, thread) AS thread, start_ns, end_ns, CAST(nests AS BIGINT) AS nests
FROM export_slice WHERE rank = getvariable('export_rank')
ORDER BY process, thread, start_ns, end_ns DESC, number
