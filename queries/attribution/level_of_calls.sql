-- title = "Operators of a level that are in convolution calls"
-- doc = "Operators of the level just found, each with the outermost one around it."
SELECT id, call_id, forward_id FROM attributed.level WHERE call_id IS NOT NULL
