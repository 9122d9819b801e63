-- title = "Operators of a level that are in convolution calls"
-- doc = "Of the level that was just found, each with the outermost operator around it."
SELECT id, call_id, forward_id FROM attributed.level WHERE call_id IS NOT NULL
