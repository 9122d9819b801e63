-- title = "attribution: complex matrix products outside convolutions"
-- doc = "Those of cuBLAS are part of none where no transform of an FFT convolution runs in the whole recording."
SELECT k.id, 'gemm' AS category, n.role
FROM raw.kernels k JOIN names.kernel n ON n.name = k.name AND n.phase IS NOT DISTINCT FROM k.phase
WHERE k.op_id IS NULL AND k.op_path IS NULL AND n.op_path IS NULL AND n.algorithm = 'fft'
    AND n.library = 'cublas' AND k.id NOT IN (SELECT id FROM attributed.part)
    AND k.rank NOT IN (SELECT t.rank FROM raw.kernels t JOIN names.kernel f ON f.name = t.name
        WHERE f.algorithm IN ('fft', 'fft_tiling') AND f.role <> 'main')
