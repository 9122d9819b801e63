-- doc = "Largest value of every counter of bytes over the whole recording, on the rank and device where it is largest."
-- [columns]
-- counter = "counter, as recorded"
-- peak_bytes = "largest value"
SELECT name AS counter, CAST(max(value) AS DOUBLE) AS peak_bytes
FROM counters WHERE name LIKE '%\_bytes' ESCAPE '\'
GROUP BY name
ORDER BY name
