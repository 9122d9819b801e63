-- title = "Perfetto: kernels"
-- doc = "By the category that profilers give them; device and stream from the arguments, else from the tracks' names."
SELECT id, start_ns, dur_ns, name,
    coalesce(TRY_CAST(json_extract_string(args, '$.device') AS BIGINT),
        TRY_CAST(regexp_extract(concat_ws(' ', process, thread), '(?:GPU|AGENT|Agent) \[?(\d+)', 1) AS BIGINT))
        AS device,
    coalesce(TRY_CAST(json_extract_string(args, '$.stream') AS BIGINT),
        TRY_CAST(regexp_extract(thread, '(?i)(?:stream|queue) \[?(\d+)', 1) AS BIGINT)) AS stream,
    TRY_CAST(json_extract_string(args, '$.correlation') AS BIGINT) AS correlation
FROM event WHERE ph = 'X' AND dur_ns IS NOT NULL AND cat IN ('kernel', 'kernel_dispatch')
