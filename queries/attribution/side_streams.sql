-- title = "Transforms on a stream of their own"
-- doc = """cuDNN may transform one operand of an FFT convolution on a second stream: such a transform goes with the
-- next complex product on its device."""
WITH product AS (
    SELECT k.rank, k.device, k.start_ns, p.algorithm, p.direction FROM attributed.part p JOIN raw.kernels k USING (id)
    WHERE p.role = 'main' AND p.algorithm IN ('fft', 'fft_tiling') AND k.op_id IS NULL
)
SELECT k.id, 'conv' AS category, p.algorithm, p.direction, 'transform' AS role
FROM raw.kernels k
JOIN attributed.stage_name s ON s.name = k.name AND s.mark = 'open'
JOIN names.kernel n ON n.name = k.name AND n.op_path IS NULL AND n.algorithm IN ('fft', 'fft_tiling')
    AND n.phase IS NOT DISTINCT FROM k.phase
ASOF JOIN product p ON p.rank = k.rank AND p.device = k.device AND k.start_ns <= p.start_ns
WHERE k.op_id IS NULL AND k.id NOT IN (SELECT id FROM attributed.part)
