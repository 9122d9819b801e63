-- title = "rocprofv3: records in this part of an array, and those with a time"
-- doc = "Texts of marks stand under the key of the marks themselves and are not records. Spans need both ends."
SELECT count(*) AS n_records,
    count(*) FILTER (coalesce(start_timestamp, timestamp) IS NOT NULL AND (end_timestamp <> 0
        OR buffer NOT IN ('kernel_dispatch', 'memory_copy', 'hip_api', 'hsa_api', 'marker_api'))) AS n_timed
FROM record WHERE key IS NULL
