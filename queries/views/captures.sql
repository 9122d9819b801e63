-- doc = "A row for each fact about the capture: tools, versions, command, options, dropped and repaired events."
-- materialize = true
SELECT * FROM raw.captures
