-- title = "What only the splitter takes for JSON is taken out"
-- doc = "Returns the numbers, so that it is counted."
DELETE FROM event WHERE ph IS NULL RETURNING "row"
