-- title = "Operators of a level that are in linear ones"
-- doc = "Operators of the level just found, each with a linear one around it; it may have several."
SELECT id, linear_id FROM attributed.level WHERE linear_id IS NOT NULL
