-- title = "attribution: complex matrix products outside convolutions"
-- doc = "One of cuBLAS without the transforms of an FFT convolution around it is no part of one."
SELECT k.id, 'gemm' AS category, n.role
FROM raw.kernels k JOIN names.kernel n ON n.name = k.name AND n.phase IS NOT DISTINCT FROM k.phase
WHERE k.op_id IS NULL AND k.op_path IS NULL AND n.op_path IS NULL AND n.algorithm IN ('fft', 'fft_tiling')
    AND n.library = 'cublas' AND k.id NOT IN (SELECT id FROM attributed.part)
