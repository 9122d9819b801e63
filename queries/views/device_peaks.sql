-- title = "device_peaks"
-- doc = """Peaks of each device: as the trace records them, else from the vendor's datasheet by product name
-- (classify/devices.toml), else for a processor whose cores traceview collect noted by its vectors and clock (turbo
-- clocks exceed it), else unknown. The host link is what the product has (PCI Express x16 after line coding, or
-- NVLink-C2C; one direction); the slot may give less. A source that ends with "not checked" was written from memory."""
-- [columns]
-- rank = "process of the job"
-- device = "device number"
-- name = "product name"
-- is_used = "whether a kernel ran on it (a CPU counts as used where none ran on any device of the rank)"
-- fp32_flop_per_s = "single precision without tensor or matrix cores"
-- tf32_flop_per_s = "on tensor or matrix cores, dense; NULL where the device has none"
-- fp16_flop_per_s = "on tensor or matrix cores where it has them, dense"
-- bf16_flop_per_s = "on tensor or matrix cores, dense"
-- has_tensor_cores = "whether it has tensor or matrix cores; NULL where nothing is known of it"
-- memory_bytes_per_s = "memory bandwidth"
-- host_link_bytes_per_s = "link to the host, one direction"
-- peaks_from = "source, or unknown"
WITH matched AS (
    SELECT d.rank, d.device, k.* FROM raw.devices d JOIN names.device k ON regexp_matches(d.name, '(?i)' || k.pattern)
    QUALIFY row_number() OVER (PARTITION BY d.rank, d.device ORDER BY k.position) = 1
), processor AS (
    -- Two multiply-add units of the widest vector in each core, which no present processor exceeds.
    SELECT rank, 4.0 * simd_bits / 32 * cpu_hz * threads AS fp32,
        format('{} x 2 multiply-add units of {} bits x {:.2f} GHz, as traceview collect noted them',
            if(threads = 1, '1 thread', threads || ' threads'), simd_bits,
            cpu_hz / 1e9) AS source
    FROM processes WHERE simd_bits * cpu_hz * threads IS NOT NULL
), used AS (
    SELECT DISTINCT rank, device FROM raw.kernels
)
SELECT d.rank, d.device, d.name, u.rank IS NOT NULL OR d.kind = 'cpu'
    AND d.rank NOT IN (SELECT rank FROM used) AS is_used,
    coalesce(d.fp32_flop_per_s, m.fp32_flop_per_s, c.fp32) AS fp32_flop_per_s, m.tf32_flop_per_s, m.fp16_flop_per_s,
    m.bf16_flop_per_s,
    -- Twice the rate in fp16 alone is packed arithmetic without them (P100, MI50).
    CASE WHEN m.fp32_flop_per_s IS NOT NULL THEN coalesce(m.tf32_flop_per_s > m.fp32_flop_per_s, false)
        OR coalesce(m.bf16_flop_per_s > m.fp32_flop_per_s, false)
        OR coalesce(m.fp16_flop_per_s > 3 * m.fp32_flop_per_s, false) END AS has_tensor_cores,
    coalesce(d.memory_bytes_per_s, m.memory_bytes_per_s) AS memory_bytes_per_s,
    m.host_link_bytes_per_s,
    CASE WHEN d.fp32_flop_per_s IS NOT NULL AND d.memory_bytes_per_s IS NOT NULL
        THEN coalesce(d.peaks_from, 'the trace')
        WHEN d.fp32_flop_per_s IS NOT NULL OR d.memory_bytes_per_s IS NOT NULL
            THEN concat_ws('; ', coalesce(d.peaks_from, 'the trace'), m.source)
        ELSE coalesce(m.source, c.source, 'unknown') END AS peaks_from
FROM raw.devices d
LEFT JOIN matched m USING (rank, device)
LEFT JOIN processor c ON c.rank = d.rank AND d.kind = 'cpu'
LEFT JOIN used u ON u.rank = d.rank AND u.device = d.device
