-- title = "ONNX Runtime: nodes that ran on a GPU of which nothing was recorded"
-- doc = "Their spans are those of the launches."
SELECT count(*) FROM stage.ops
WHERE regexp_matches(backend, '(?i)cuda|tensorrt|rocm|migraphx|dml|webgpu') AND NOT EXISTS (FROM stage.kernels)
