-- title = "Operators of a level that are in linear ones"
-- doc = "Of the level that was just found, each with a linear operator around it; it may have several."
SELECT id, linear_id FROM attributed.level WHERE linear_id IS NOT NULL
