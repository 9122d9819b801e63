-- title = "Names of the kernels without an operator"
-- doc = "Among them may be the stages of a convolution."
SELECT DISTINCT name FROM raw.kernels WHERE op_id IS NULL
