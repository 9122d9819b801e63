-- title = "Operators that are in convolution calls"
-- doc = "Operators in convolution calls, each with the outermost one around it."
SELECT id, call_id, forward_id FROM attributed.level WHERE call_id IS NOT NULL
