-- title = "ranks"
-- doc = "The table of that name, as recorded."
SELECT * FROM raw.ranks
