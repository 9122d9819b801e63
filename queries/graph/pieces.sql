-- title = "Pieces of the path"
-- doc = "As found, with times from the origin again; edge is NULL for a task, a kind of dependency for a wait."
SELECT * REPLACE (from_ns + getvariable('critical_low') AS from_ns) FROM found_columns
