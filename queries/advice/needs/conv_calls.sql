-- title = "Convolution calls"
-- missing = "no convolution was recognised in this trace"
SELECT EXISTS (FROM counted_conv_calls)
