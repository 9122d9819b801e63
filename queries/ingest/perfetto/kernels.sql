-- title = "Perfetto: kernels"
-- doc = "By the category that profilers give them; device and stream from the arguments, else from the tracks' names."
SELECT id, start_ns, dur_ns, name,
    device, stream,
    TRY_CAST(json_extract_string(args, '$.correlation') AS BIGINT) AS correlation
FROM event WHERE ph = 'X' AND dur_ns IS NOT NULL AND goes_to = 'kernels'
