-- title = "links"
-- doc = "The table of that name, as recorded."
SELECT * FROM raw.links
