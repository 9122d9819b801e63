-- title = "A name of a process is replaced"
-- doc = "By what is left of it when secrets are blanked; by nothing where there are too many to look at."
-- [params]
-- was = { type = "VARCHAR", doc = "the arguments as recorded; every name when left out" }
-- args = { type = "VARCHAR", doc = "the arguments to store" }
UPDATE stage.events SET args = $args
WHERE phase = 'M' AND name IN ('process_name', 'process_labels') AND ($was IS NULL OR args = $was)
