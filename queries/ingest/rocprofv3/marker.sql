-- title = "rocprofv3: texts of roctx marks"
-- doc = "By the correlation number of the call that made the mark."
SELECT key AS correlation, value AS text FROM record WHERE key IS NOT NULL
