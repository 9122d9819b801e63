-- title = "Convolution calls"
-- record = "training with these operators"
-- missing = "no convolution was recognised in this trace"
SELECT EXISTS (FROM counted_conv_calls)
