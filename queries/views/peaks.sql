-- doc = """Peak rates that calls of a rank are held against, a row for each type of product: those of the view
-- device_peaks. NULL where devices of several kinds were used, since a call does not say on which it ran, and on a CPU
-- whose operators ran above the peak of the clock that was noted: then that is not the clock that it ran at."""
-- materialize = true
-- [columns]
-- arithmetic = "type of the products: fp32, tf32, fp16, bf16, fp8, fp4"
-- peak_flop_per_s = "dense peak for it; NULL where unknown"
-- vector_flop_per_s = "peak of other arithmetic, that of fp32; NULL where unknown"
-- memory_bytes_per_s = "bandwidth of the memory; NULL where unknown"
-- peaks_from = "source of the peaks, or unknown, and why"
WITH used AS (
    FROM device_peaks WHERE is_used QUALIFY row_number() OVER (PARTITION BY rank ORDER BY device) = 1
        AND min(name) OVER (PARTITION BY rank) IS NOT DISTINCT FROM max(name) OVER (PARTITION BY rank)
), fewer AS (
    -- Winograd and FFT do with fewer FLOP than the direct method, which op_costs counts.
    SELECT a.id FROM attributed.op a JOIN conv_calls v ON v.op_id = a.call_id
    WHERE regexp_matches(v.algorithm, '^(winograd|fft|several)')
), rate AS (
    -- Of at least 0.1 ms, so that no rounded duration decides.
    SELECT rank, 1e9 * sum(executed_flop) / sum(busy_ns) AS flop_per_s FROM op_costs
    WHERE dtype = 'fp32' AND executed_flop > 0 AND rank NOT IN (SELECT rank FROM raw.kernels)
        AND op_id NOT IN (SELECT id FROM fewer)
    GROUP BY rank, op_name, direction, layer HAVING sum(busy_ns) >= 100000
), beaten AS (
    SELECT u.rank, format('operators ran at {:.0f} GFLOP/s, above the {:.0f} of the clock that was noted',
        max(r.flop_per_s) / 1e9, any_value(u.fp32_flop_per_s) / 1e9) AS why
    FROM used u JOIN rate r ON r.rank = u.rank AND r.flop_per_s > u.fp32_flop_per_s GROUP BY u.rank
), listed AS (
    SELECT rank, vector_flop_per_s, memory_bytes_per_s, peaks_from,
        unnest(['fp32', 'tf32', 'fp16', 'bf16', 'fp8', 'fp4']) AS arithmetic,
        unnest([fp32_flop_per_s, tf32_flop_per_s, fp16_flop_per_s, bf16_flop_per_s, fp8_flop_per_s, fp4_flop_per_s])
            AS peak_flop_per_s
    FROM (SELECT *, fp32_flop_per_s AS vector_flop_per_s FROM used)
)
SELECT l.rank, l.arithmetic, if(b.why IS NULL, l.peak_flop_per_s, NULL) AS peak_flop_per_s,
    if(b.why IS NULL, l.vector_flop_per_s, NULL) AS vector_flop_per_s, l.memory_bytes_per_s,
    coalesce('unknown: ' || b.why, l.peaks_from) AS peaks_from
FROM listed l LEFT JOIN beaten b ON b.rank = l.rank
