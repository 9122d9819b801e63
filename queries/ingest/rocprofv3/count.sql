-- title = "rocprofv3: records in this part of an array, and those with a time"
-- doc = "Texts of marks stand under the key of the marks themselves and are no records."
SELECT count(*) AS n_records, count(coalesce(start_timestamp, timestamp)) AS n_timed FROM record WHERE key IS NULL
