-- title = "captures"
-- doc = "The table of that name, as recorded."
-- materialize = true
SELECT * FROM raw.captures
