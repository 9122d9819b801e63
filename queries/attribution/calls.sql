-- title = "Operators at which the descent begins"
-- doc = "The outermost ones of convolution calls, and all linear ones, each by its own id."
SELECT id, id AS call_id, NULL AS linear_id, forward_id FROM attributed.conv_op
UNION ALL
SELECT id, NULL, id, NULL FROM attributed.linear
