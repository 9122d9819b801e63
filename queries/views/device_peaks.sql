-- title = "device_peaks"
-- doc = "Peaks of each device: as the trace records them, else from the vendor's datasheet by product name (dense rates), else for a processor whose cores traceview collect noted by its vectors and clock (turbo clocks exceed it), else unknown. The host link is what the product has (PCI Express x16 after line coding, or NVLink-C2C; one direction); the slot may give less. A source that ends with \"not checked\" was written from memory."
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
WITH known AS (
    -- Boost clocks throughout, because a bound must not leave the arithmetic more time than it needs. The first pattern found in the
    -- name, in this order. Rates per second; PCIe 3.0, 4.0, 5.0 x16: 8, 16, 32 GT/s x 16 x 128/130; NVLink-C2C: 900 GB/s both ways.
    -- Held against what others took from the vendors' sheets: NVIDIA from V100 to H100, T4, L4, L40, A40, A6000 and RTX against
    -- Lightning-AI/pytorch-lightning@1526f84 src/lightning/fabric/utilities/throughput.py (FP32, TF32, tensor cores); A100 to GB200,
    -- L40S, MI250 to MI325X against stas00/ml-engineering@b9e2972 compute/accelerator/README.md; K80, K40, P100, P40, M40, GTX 1060,
    -- 1080, TITAN X and MI100 against cores, clocks and bandwidths that their announcements and comparisons name. What says "not checked" was
    -- in none of them (H100 NVL is there for a pair, from an early sheet: half of 133.8, 989.4 and 1978.8).
    SELECT *, row_number() OVER () AS position FROM (VALUES
        ('GTX 980 ?Ti', 6.054e12, NULL, NULL, NULL, 336.5e9, 15.75e9,
            'NVIDIA GeForce GTX 980 Ti specifications: 2 x 2816 cores x 1075 MHz boost'),
        ('GTX 1080 ?Ti', 11.34e12, NULL, NULL, NULL, 484e9, 15.75e9,
            'NVIDIA GeForce GTX 1080 Ti specifications: 2 x 3584 cores x 1582 MHz boost'),
        ('RTX 2080 ?Ti', 14.23e12, NULL, 56.9e12, NULL, 616e9, 15.75e9,
            'NVIDIA Turing GPU architecture whitepaper, Founders Edition: 2 x 4352 cores x 1635 MHz boost (FP16 with FP32 accumulation)'),
        ('GTX 1070 ?Ti', 8.186e12, NULL, NULL, NULL, 256e9, 15.75e9,
            'NVIDIA GeForce GTX 1070 Ti specifications: 2 x 2432 cores x 1683 MHz boost; not checked'),
        ('RTX 3080 ?Ti', 34.1e12, 34.1e12, 68.2e12, 68.2e12, 912e9, 31.51e9,
            'NVIDIA GeForce RTX 3080 Ti specifications: 2 x 10240 cores x 1665 MHz boost (FP16 with FP32 accumulation); not checked'),
        ('RTX 3090 ?Ti', 40e12, 40e12, 80e12, 80e12, 1008e9, 31.51e9,
            'NVIDIA GeForce RTX 3090 Ti specifications: 2 x 10752 cores x 1860 MHz boost (FP16 with FP32 accumulation); not checked'),
        ('K80', 4.37e12, NULL, NULL, NULL, 240e9, 15.75e9,
            'NVIDIA Tesla K80 board specification, per GPU of the board, boost clock'),
        ('K40', 5.04e12, NULL, NULL, NULL, 288e9, 15.75e9,
            'NVIDIA Tesla K40 board specification: 2 x 2880 cores x 875 MHz boost'),
        ('GTX TITAN X', 6.605e12, NULL, NULL, NULL, 336.5e9, 15.75e9,
            'NVIDIA GeForce GTX TITAN X specifications: 2 x 3072 cores x 1075 MHz boost'),
        ('TITAN Xp', 12.15e12, NULL, NULL, NULL, 547.7e9, 15.75e9,
            'NVIDIA TITAN Xp specifications: 2 x 3840 cores x 1582 MHz boost; not checked'),
        ('TITAN X', 10.97e12, NULL, NULL, NULL, 480e9, 15.75e9,
            'NVIDIA TITAN X (Pascal) specifications: 2 x 3584 cores x 1531 MHz boost'),
        ('TITAN V', 14.9e12, NULL, 110e12, NULL, 652.8e9, 15.75e9,
            'NVIDIA TITAN V specifications; not checked'),
        ('TITAN RTX', 16.3e12, NULL, 130.5e12, NULL, 672e9, 15.75e9,
            'NVIDIA Turing GPU architecture whitepaper and TITAN RTX specifications'),
        ('GTX 980\b', 4.981e12, NULL, NULL, NULL, 224e9, 15.75e9,
            'NVIDIA GeForce GTX 980 specifications: 2 x 2048 cores x 1216 MHz boost'),
        ('GTX 1060', 4.37e12, NULL, NULL, NULL, 192e9, 15.75e9,
            'NVIDIA GeForce GTX 1060 6GB specifications: 2 x 1280 cores x 1708 MHz boost'),
        ('GTX 1070\b', 6.463e12, NULL, NULL, NULL, 256e9, 15.75e9,
            'NVIDIA GeForce GTX 1070 specifications: 2 x 1920 cores x 1683 MHz boost'),
        ('GTX 1080\b', 8.873e12, NULL, NULL, NULL, 320e9, 15.75e9,
            'NVIDIA GeForce GTX 1080 whitepaper: 2 x 2560 cores x 1733 MHz boost'),
        ('RTX 3080\b', 29.77e12, 29.8e12, 59.5e12, 59.5e12, 760e9, 31.51e9,
            'NVIDIA Ampere GA102 GPU architecture whitepaper (10 GB; FP16 with FP32 accumulation)'),
        ('RTX 3090\b', 35.58e12, 35.6e12, 71e12, 71e12, 936e9, 31.51e9,
            'NVIDIA Ampere GA102 GPU architecture whitepaper (FP16 with FP32 accumulation)'),
        ('RTX 4090', 82.58e12, 82.6e12, 165.2e12, 165.2e12, 1008e9, 31.51e9,
            'NVIDIA Ada GPU architecture whitepaper (FP16 with FP32 accumulation)'),
        ('RTX A6000|A6000', 38.7e12, 77.4e12, 154.8e12, 154.8e12, 768e9, 31.51e9,
            'NVIDIA Ampere GA102 GPU architecture whitepaper'),
        ('RTX 6000 Ada', 91.1e12, 182.1e12, 364.2e12, 364.2e12, 960e9, 31.51e9,
            'NVIDIA RTX 6000 Ada Generation datasheet (dense)'),
        ('P100.*PCIE', 9.526e12, NULL, 19.05e12, NULL, 732e9, 15.75e9,
            'NVIDIA Tesla P100, PCIe 16 GB: 2 x 3584 cores x 1329 MHz boost (FP16 without tensor cores)'),
        ('P100', 10.6e12, NULL, 21.2e12, NULL, 732e9, 15.75e9,
            'NVIDIA Tesla P100 datasheet, SXM2 (FP16 without tensor cores)'),
        ('\bP40\b', 11.76e12, NULL, NULL, NULL, 346e9, 15.75e9,
            'NVIDIA Tesla P40 datasheet'),
        ('\bM40\b', 6.84e12, NULL, NULL, NULL, 288e9, 15.75e9,
            'NVIDIA Tesla M40 datasheet, boost clock'),
        ('V100S', 16.4e12, NULL, 130e12, NULL, 1134e9, 15.75e9,
            'NVIDIA V100 datasheet, V100S PCIe'),
        ('V100.*PCIE', 14e12, NULL, 112e12, NULL, 900e9, 15.75e9,
            'NVIDIA V100 datasheet, PCIe'),
        ('V100', 15.7e12, NULL, 125e12, NULL, 900e9, 15.75e9,
            'NVIDIA V100 datasheet, SXM2'),
        ('\bT4\b', 8.1e12, NULL, 65e12, NULL, 320e9, 15.75e9,
            'NVIDIA T4 product brief'),
        ('A100.*PCIE.*80|A100 80GB PCIe', 19.5e12, 156e12, 312e12, 312e12, 1935e9, 31.51e9,
            'NVIDIA A100 datasheet, PCIe 80 GB (dense)'),
        ('A100.*80', 19.5e12, 156e12, 312e12, 312e12, 2039e9, 31.51e9,
            'NVIDIA A100 datasheet, SXM 80 GB (dense)'),
        ('A100', 19.5e12, 156e12, 312e12, 312e12, 1555e9, 31.51e9,
            'NVIDIA A100 datasheet, 40 GB (dense)'),
        ('\bA10\b', 31.2e12, 62.5e12, 125e12, 125e12, 600e9, 31.51e9,
            'NVIDIA A10 datasheet (dense)'),
        ('\bA10G\b', 35e12, 62.5e12, 125e12, 125e12, 600e9, 31.51e9,
            'upper bounds: NVIDIA A10 datasheet (dense), whose tensor cores are faster than the A10G''s'),
        ('\bA30\b', 10.3e12, 82e12, 165e12, 165e12, 933e9, 31.51e9,
            'NVIDIA A30 datasheet (dense); not checked'),
        ('\bA40\b', 37.4e12, 74.8e12, 149.7e12, 149.7e12, 696e9, 31.51e9,
            'NVIDIA A40 datasheet (dense)'),
        ('\bL4\b', 30.3e12, 60e12, 121e12, 121e12, 300e9, 31.51e9,
            'NVIDIA L4 datasheet (dense)'),
        ('\bL40S\b', 91.6e12, 183e12, 362e12, 362e12, 864e9, 31.51e9,
            'NVIDIA L40S datasheet (dense)'),
        ('\bL40\b', 90.5e12, 90.5e12, 181.05e12, 181.05e12, 864e9, 31.51e9,
            'NVIDIA L40 datasheet (dense)'),
        ('H100.*NVL', 60e12, 417.5e12, 835.5e12, 835.5e12, 3900e9, 63.02e9,
            'NVIDIA H100 datasheet, NVL (dense: half of the printed sparse rates); not checked'),
        ('H100.*PCIe', 51.2e12, 378e12, 756e12, 756e12, 2039e9, 63.02e9,
            'NVIDIA H100 Tensor Core GPU architecture whitepaper, PCIe (dense)'),
        ('GH200', 66.9e12, 494.7e12, 989.4e12, 989.4e12, 4800e9, 450e9,
            'NVIDIA GH200: the rates of the H100 SXM5 (dense), HBM3e (HBM3: 4000e9), NVLink-C2C'),
        ('H100', 66.9e12, 494.7e12, 989.4e12, 989.4e12, 3352e9, 63.02e9,
            'NVIDIA H100 Tensor Core GPU architecture whitepaper, SXM5 (dense)'),
        ('H200', 66.9e12, 494.7e12, 989.4e12, 989.4e12, 4800e9, 63.02e9,
            'NVIDIA H200 datasheet, SXM (dense: half of the printed sparse rates)'),
        ('GB200', 80e12, 1250e12, 2500e12, 2500e12, 8000e9, 450e9,
            'NVIDIA GB200 NVL72 datasheet, per GPU (dense: half of the printed sparse rates)'),
        ('B200', 80e12, 1125e12, 2250e12, 2250e12, 8000e9, 63.02e9,
            'NVIDIA Blackwell architecture technical brief, HGX B200, per GPU (dense)'),
        ('MI50', 13.3e12, NULL, 26.5e12, NULL, 1024e9, 31.51e9,
            'AMD Radeon Instinct MI50 datasheet; not checked'),
        ('MI100', 23.1e12, NULL, 184.6e12, 92.3e12, 1228.8e9, 31.51e9,
            'AMD Instinct MI100 brochure (vector FP32, matrix FP16)'),
        ('MI210', 22.6e12, NULL, 181e12, 181e12, 1638.4e9, 31.51e9,
            'AMD Instinct MI210 brochure (vector FP32, matrix FP16); not checked'),
        ('MI250X', 23.95e12, NULL, 191.5e12, 191.5e12, 1638.4e9, 31.51e9,
            'AMD Instinct MI200 series datasheet, MI250X, one of two dies (vector FP32, matrix FP16)'),
        ('MI250', 22.65e12, NULL, 181.05e12, 181.05e12, 1638.4e9, 31.51e9,
            'AMD Instinct MI200 series datasheet, MI250, one of two dies (vector FP32, matrix FP16)'),
        ('MI300X', 163.4e12, 653.7e12, 1307.4e12, 1307.4e12, 5300e9, 63.02e9,
            'AMD Instinct MI300X datasheet (vector FP32, matrix TF32 and FP16, dense)'),
        ('MI300A', 122.6e12, 490.3e12, 980.6e12, 980.6e12, 5300e9, 63.02e9,
            'AMD Instinct MI300A datasheet (vector FP32, matrix TF32 and FP16, dense); not checked'),
        ('MI325X', 163.4e12, 653.7e12, 1307.4e12, 1307.4e12, 6000e9, 63.02e9,
            'AMD Instinct MI325X datasheet (vector FP32, matrix TF32 and FP16, dense)')
    ) t(pattern, fp32, tf32, fp16, bf16, memory, link, source)
), matched AS (
    SELECT d.rank, d.device, k.* FROM raw.devices d JOIN known k ON regexp_matches(d.name, '(?i)' || k.pattern)
    QUALIFY row_number() OVER (PARTITION BY d.rank, d.device ORDER BY k.position) = 1
), processor AS (
    -- Two multiply-add units of the widest vector in each core, which no present processor exceeds.
    SELECT rank, 4.0 * simd_bits / 32 * cpu_hz * threads AS fp32,
        format('{} x 2 multiply-add units of {} bits x {:.2f} GHz, as traceview collect noted them', if(threads = 1, '1 thread', threads || ' threads'), simd_bits,
            cpu_hz / 1e9) AS source
    FROM processes WHERE simd_bits * cpu_hz * threads IS NOT NULL
), used AS (
    SELECT DISTINCT rank, device FROM raw.kernels
)
SELECT d.rank, d.device, d.name, u.rank IS NOT NULL OR d.kind = 'cpu' AND d.rank NOT IN (SELECT rank FROM used) AS is_used,
    coalesce(d.fp32_flop_per_s, m.fp32, c.fp32) AS fp32_flop_per_s, m.tf32 AS tf32_flop_per_s, m.fp16 AS fp16_flop_per_s,
    m.bf16 AS bf16_flop_per_s,
    -- Twice the rate in fp16 alone is packed arithmetic without them (P100, MI50).
    CASE WHEN m.fp32 IS NOT NULL THEN coalesce(m.tf32 > m.fp32, false) OR coalesce(m.bf16 > m.fp32, false)
        OR coalesce(m.fp16 > 3 * m.fp32, false) END AS has_tensor_cores,
    coalesce(d.memory_bytes_per_s, m.memory) AS memory_bytes_per_s,
    m.link AS host_link_bytes_per_s,
    CASE WHEN d.fp32_flop_per_s IS NOT NULL AND d.memory_bytes_per_s IS NOT NULL THEN coalesce(d.peaks_from, 'the trace')
        WHEN d.fp32_flop_per_s IS NOT NULL OR d.memory_bytes_per_s IS NOT NULL
            THEN concat_ws('; ', coalesce(d.peaks_from, 'the trace'), m.source)
        ELSE coalesce(m.source, c.source, 'unknown') END AS peaks_from
FROM raw.devices d
LEFT JOIN matched m USING (rank, device)
LEFT JOIN processor c ON c.rank = d.rank AND d.kind = 'cpu'
LEFT JOIN used u ON u.rank = d.rank AND u.device = d.device
