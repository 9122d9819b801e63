-- title = "Streams that FFT kernels belong to"
-- doc = """cuDNN may run transforms and complex products of an FFT convolution on streams of their own: where a stream
-- holds no inverse transform, its FFT kernels belong to the stream of the next one on their device. So does a transform
-- after which its own stream runs none until that call is over."""
WITH fft AS (
    SELECT k.id, k.rank, k.device, k.stream, k.start_ns, s.mark,
        lead(k.start_ns) OVER (PARTITION BY k.rank, k.device, k.stream ORDER BY k.start_ns, k.id) AS next_ns
    FROM raw.kernels k
    JOIN attributed.stage_name s ON s.name = k.name
    JOIN names.kernel n ON n.name = k.name AND n.op_path IS NULL AND n.phase IS NOT DISTINCT FROM k.phase
    WHERE k.op_id IS NULL AND n.algorithm IN ('fft', 'fft_tiling')
), restored AS (
    SELECT rank, device, stream, start_ns FROM fft WHERE mark = 'close'
)
SELECT f.id, r.stream
FROM fft f ASOF JOIN restored r ON r.rank = f.rank AND r.device = f.device AND f.start_ns <= r.start_ns
WHERE NOT EXISTS (FROM restored own WHERE own.rank = f.rank AND own.device = f.device AND own.stream = f.stream)
    OR f.mark = 'open' AND r.stream <> f.stream AND (f.next_ns IS NULL OR f.next_ns > r.start_ns)
