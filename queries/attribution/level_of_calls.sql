-- title = "Operators of a level that are in convolution calls"
SELECT id, call_id, forward_id FROM attributed.level WHERE call_id IS NOT NULL
