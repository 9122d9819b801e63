-- title = "XPlane: which framework ran"
-- doc = "PyTorch/XLA names its instructions after aten operators, JAX after jit(...), TensorFlow after name:Type."
SELECT CASE
    WHEN bool_or(name LIKE '%aten::%' OR name LIKE '%xla__%') THEN 'PyTorch/XLA'
    WHEN bool_or(name LIKE 'jit(%' OR name LIKE 'pjit(%') THEN 'JAX'
    WHEN bool_or(regexp_matches(name, '^[^: ]+:[A-Za-z_]\w*$')) THEN 'TensorFlow'
END FROM stage.ops
