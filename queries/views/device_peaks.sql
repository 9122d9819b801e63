-- doc = """Peaks of each device: as the trace records them, else from the vendor's datasheet by product name
-- (classify/devices.toml; the view known_devices says which product), else for a processor whose cores traceview
-- collect noted by its vectors and clock (turbo clocks exceed it), else unknown. The host link is what
-- the product has (PCI Express x16 after line coding, or
-- NVLink-C2C; one direction); the slot may give less. A source that ends with "not checked" was written from memory."""
-- materialize = true
-- [columns]
-- rank = "process of the job"
-- device = "device number"
-- name = "product name"
-- is_used = "whether a kernel ran on it (a CPU counts as used where none ran on any device of the rank)"
-- fp32_flop_per_s = "single precision without tensor or matrix cores"
-- tf32_flop_per_s = "on tensor or matrix cores, dense; NULL where the device has none"
-- fp16_flop_per_s = "on tensor or matrix cores where it has them, dense"
-- bf16_flop_per_s = "on tensor or matrix cores, dense"
-- fp8_flop_per_s = "on tensor or matrix cores, dense"
-- fp4_flop_per_s = "on tensor or matrix cores, dense"
-- has_tensor_cores = "whether it has tensor or matrix cores; NULL where nothing is known of it"
-- memory_bytes_per_s = "memory bandwidth"
-- host_link_bytes_per_s = "link to the host, one direction"
-- peaks_from = "source, or unknown"
WITH processor AS (
    -- Two multiply-add units of the widest vector in each core, which no present processor exceeds.
    SELECT rank, 4.0 * simd_bits / 32 * cpu_hz * threads AS fp32,
        format('{} x 2 multiply-add units of {} bits x {:.2f} GHz, as traceview collect noted them',
            if(threads = 1, '1 thread', threads || ' threads'), simd_bits,
            cpu_hz / 1e9) AS source
    FROM processes WHERE simd_bits * cpu_hz * threads IS NOT NULL
), used AS (
    SELECT DISTINCT rank, device FROM raw.kernels
), rated AS (
    -- What is said by hand is meant instead of what the trace says.
    SELECT k.rank, k.device, k.name, k.kind, k.sheet, starts_with(k.name_from, '--gpu ') AS by_hand,
        if(by_hand, NULL, d.fp32_flop_per_s) AS fp32_flop_per_s,
        if(by_hand, NULL, d.memory_bytes_per_s) AS memory_bytes_per_s, d.peaks_from,
        if(k.name_from = 'recorded', '', k.name_from || '; ') || k.sheet.source AS source
    FROM known_devices k
    LEFT JOIN raw.devices d ON d.rank = k.rank AND d.device IS NOT DISTINCT FROM k.device
)
SELECT d.rank, d.device, d.name, u.rank IS NOT NULL OR d.kind = 'cpu'
    AND d.rank NOT IN (SELECT rank FROM used) AS is_used,
    coalesce(d.fp32_flop_per_s, d.sheet.fp32_flop_per_s, c.fp32) AS fp32_flop_per_s, d.sheet.tf32_flop_per_s,
    d.sheet.fp16_flop_per_s, d.sheet.bf16_flop_per_s, d.sheet.fp8_flop_per_s, d.sheet.fp4_flop_per_s,
    -- Twice the rate in fp16 alone is packed arithmetic without them (P100, MI50).
    CASE WHEN d.sheet.fp32_flop_per_s IS NOT NULL
        THEN coalesce(d.sheet.tf32_flop_per_s > d.sheet.fp32_flop_per_s, false)
        OR coalesce(d.sheet.bf16_flop_per_s > d.sheet.fp32_flop_per_s, false)
        OR coalesce(d.sheet.fp16_flop_per_s > 3 * d.sheet.fp32_flop_per_s, false) END AS has_tensor_cores,
    coalesce(d.memory_bytes_per_s, d.sheet.memory_bytes_per_s) AS memory_bytes_per_s,
    d.sheet.host_link_bytes_per_s,
    CASE WHEN d.fp32_flop_per_s IS NOT NULL AND d.memory_bytes_per_s IS NOT NULL
        THEN coalesce(d.peaks_from, 'the trace')
        WHEN d.fp32_flop_per_s IS NOT NULL OR d.memory_bytes_per_s IS NOT NULL
            THEN concat_ws('; ', coalesce(d.peaks_from, 'the trace'), d.source)
        ELSE coalesce(d.source, c.source, 'unknown') END AS peaks_from
FROM rated d
LEFT JOIN processor c ON c.rank = d.rank AND d.kind = 'cpu'
LEFT JOIN used u ON u.rank = d.rank AND u.device IS NOT DISTINCT FROM d.device
