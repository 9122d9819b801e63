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
WITH sheet AS (
    -- By product: there are few, and to match them takes longest.
    SELECT d.product, k.* FROM (SELECT DISTINCT product FROM known_devices) d
    JOIN names.device k ON regexp_matches(d.product, '(?i)' || k.pattern)
    -- A laptop's product shares the name of a faster one for desktops.
    WHERE NOT regexp_matches(d.product, '(?i)\b(laptop|mobile|max-q)\b')
    QUALIFY row_number() OVER (PARTITION BY d.product ORDER BY k.position) = 1
), matched AS (
    SELECT d.rank, d.device, k.* EXCLUDE (product) REPLACE (
        if(d.name_from = 'recorded', k.source, d.name_from || '; ' || k.source) AS source),
        starts_with(d.name_from, '--gpu ') AS by_hand
    FROM known_devices d JOIN sheet k USING (product)
), processor AS (
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
    SELECT k.rank, k.device, k.name, k.kind, if(m.by_hand, NULL, d.fp32_flop_per_s) AS fp32_flop_per_s,
        if(m.by_hand, NULL, d.memory_bytes_per_s) AS memory_bytes_per_s, d.peaks_from,
        m.* EXCLUDE (rank, device, fp32_flop_per_s, memory_bytes_per_s, by_hand), m.fp32_flop_per_s AS sheet_fp32,
        m.memory_bytes_per_s AS sheet_memory
    FROM known_devices k
    LEFT JOIN raw.devices d ON d.rank = k.rank AND d.device IS NOT DISTINCT FROM k.device
    LEFT JOIN matched m ON m.rank = k.rank AND m.device IS NOT DISTINCT FROM k.device
)
SELECT d.rank, d.device, d.name, u.rank IS NOT NULL OR d.kind = 'cpu'
    AND d.rank NOT IN (SELECT rank FROM used) AS is_used,
    coalesce(d.fp32_flop_per_s, d.sheet_fp32, c.fp32) AS fp32_flop_per_s, d.tf32_flop_per_s, d.fp16_flop_per_s,
    d.bf16_flop_per_s, d.fp8_flop_per_s, d.fp4_flop_per_s,
    -- Twice the rate in fp16 alone is packed arithmetic without them (P100, MI50).
    CASE WHEN d.sheet_fp32 IS NOT NULL THEN coalesce(d.tf32_flop_per_s > d.sheet_fp32, false)
        OR coalesce(d.bf16_flop_per_s > d.sheet_fp32, false)
        OR coalesce(d.fp16_flop_per_s > 3 * d.sheet_fp32, false) END AS has_tensor_cores,
    coalesce(d.memory_bytes_per_s, d.sheet_memory) AS memory_bytes_per_s,
    d.host_link_bytes_per_s,
    CASE WHEN d.fp32_flop_per_s IS NOT NULL AND d.memory_bytes_per_s IS NOT NULL
        THEN coalesce(d.peaks_from, 'the trace')
        WHEN d.fp32_flop_per_s IS NOT NULL OR d.memory_bytes_per_s IS NOT NULL
            THEN concat_ws('; ', coalesce(d.peaks_from, 'the trace'), d.source)
        ELSE coalesce(d.source, c.source, 'unknown') END AS peaks_from
FROM rated d
LEFT JOIN processor c ON c.rank = d.rank AND d.kind = 'cpu'
LEFT JOIN used u ON u.rank = d.rank AND u.device IS NOT DISTINCT FROM d.device
