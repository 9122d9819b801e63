-- doc = "Names of operators whose arguments are recorded."
SELECT DISTINCT name FROM raw.ops WHERE shapes IS NOT NULL AND name IS NOT NULL
