-- title = "Convolution calls by their own operator"
-- doc = "The outermost operators, with which the way down begins."
SELECT id, id AS call_id FROM attributed.conv_op
