-- doc = """Kernels by which TensorFlow turns a filter from its own order of dimensions (HWIO) into that of cuDNN
-- (OIHW), or a filter's gradient back: all dimensions reversed (TransformFilter and ReverseTransformFilter). No
-- data_format changes that order, so these stay in any layout of the images."""
-- [columns]
-- id = "the activity"
SELECT id, rank, name, call_id, mean_ns / per AS own_ns, 1.0 / per AS calls FROM counted
WHERE category = 'layout_transpose'
    AND regexp_matches(name, 'SwapDimension0And2InTensor3|'
        || 'ShuffleInTensor3Simple<\w+, (int=|\(int\))?2, (int=|\(int\))?1, ')
