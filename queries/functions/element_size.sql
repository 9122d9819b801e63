-- title = "Bytes of an element of a type"
-- doc = """The macro `element_size(type)`, of types as PyTorch (with and without its namespaces), XLA, oneDNN and ONNX
-- Runtime name them. Two numbers of float4 share a byte."""
CREATE OR REPLACE MACRO element_size(type) AS CASE
    WHEN type IS NULL OR type = '' THEN NULL
    WHEN regexp_matches(type, '(?i)complex<double>|^c128$') THEN 16.0
    WHEN regexp_matches(type,
        '(?i)complex<float>|^(double|u?int64|long( int)?|unsigned long( int)?|float64|fp64|[fsu]64|c64)$') THEN 8.0
    WHEN regexp_matches(type,
        '(?i)float8|float4|^(bool|pred|(un)?signed char|char|byte|u?int8|c10::q?u?int8|c10::qu?int8|[su]8|f8\w*)$')
        THEN 1.0
    WHEN regexp_matches(type,
        '(?i)complex<c10::half>|^(float|int|unsigned int|u?int32|float32|fp32|[fsu]32|c10::qint32|c10::float)$')
        THEN 4.0
    WHEN regexp_matches(type,
        '(?i)half|bfloat16|^(short( int)?|unsigned short( int)?|u?int16|float16|fp16|b?f16|[su]16)$') THEN 2.0 END
