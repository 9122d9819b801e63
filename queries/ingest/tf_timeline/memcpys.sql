-- title = "TensorFlow 1: copies"
-- doc = "Sizes are not recorded. Some rows are named after the operator that copied, without a direction."
SELECT id, start_ns, dur_ns, device, pid AS stream, name, op AS recorded_op,
    coalesce(nullif(regexp_extract(name, '(?i)^MEMCPY(HtoD|DtoH|DtoD|PtoP|HtoH)', 1), ''),
        CASE WHEN name ILIKE 'memset%' THEN 'memset' END, 'unknown') AS direction
FROM placed WHERE goes = 'memcpys'
