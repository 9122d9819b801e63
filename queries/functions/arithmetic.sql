-- title = "Arithmetic of an element type"
-- doc = """The macro `arithmetic(type)`: fp32, bf16, fp16, fp8, int64 ... of the names that PyTorch, XLA, oneDNN and
-- ONNX Runtime have for types. Any other name stays; a number or a list has none."""
CREATE OR REPLACE MACRO arithmetic(type) AS CASE
    WHEN type ILIKE '%bfloat16%' OR type ILIKE 'bf16' THEN 'bf16'
    WHEN type ILIKE '%float8%' OR type ILIKE 'f8%' THEN 'fp8'
    WHEN type ILIKE '%float4%' THEN 'fp4'
    WHEN regexp_matches(type, '(?i)half|^(f16|fp16|float16)$') THEN 'fp16'
    WHEN type ILIKE '%complex%' THEN 'complex'
    WHEN regexp_matches(type, '(?i)^(f32|fp32|float|float32|c10::float)$') THEN 'fp32'
    WHEN regexp_matches(type, '(?i)^(double|float64|f64|fp64)$') THEN 'fp64'
    WHEN regexp_matches(type, '(?i)^(long int|long|int64|s64)$') THEN 'int64'
    WHEN regexp_matches(type, '(?i)^(int|int32|s32|c10::qint32)$') THEN 'int32'
    WHEN regexp_matches(type, '(?i)^([us]8|(un)?signed char|char|byte|u?int8|c10::qu?int8)$') THEN 'int8'
    WHEN type ILIKE 'bool' THEN 'bool'
    WHEN type NOT IN ('', 'Scalar', 'ScalarList', 'TensorList', 'GenericList') THEN type END
