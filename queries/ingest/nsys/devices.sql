-- title = "nsys: devices"
-- doc = """By the number that kernels carry: CUDA's, which a table maps to the GPU for each process; without it
-- the GPU's own. Devices that no table names are known by their kernels and copies."""
-- into = "devices"
-- tables = ["TARGET_INFO_GPU"]
-- counts = false
WITH mapped AS (
    FROM cuda_device
    UNION ALL
    SELECT coalesce(cuDevice, id) AS device, max(id) AS gpu, NULL FROM gpu
    WHERE NOT EXISTS (FROM cuda_device) GROUP BY 1
), numbers AS (
    SELECT device FROM mapped UNION SELECT device FROM stage.kernels UNION SELECT device FROM stage.memcpys
)
SELECT
    n.device, g.name, m.uuid, 'gpu' AS kind,
    g.computeMajor || '.' || g.computeMinor AS architecture, g.smCount AS n_cores,
    nullif(TRY(g.maxWarpsPerSm * g.threadsPerWarp), 0) AS max_threads_per_core, g.totalMemory AS memory_bytes,
    g.clockRate AS clock_hz, CAST(nullif(g.memoryBandwidth, 0) AS DOUBLE) AS memory_bytes_per_s,
    CASE WHEN g.memoryBandwidth <> 0 THEN 'the trace (TARGET_INFO_GPU)' END AS peaks_from
FROM numbers n LEFT JOIN mapped m ON m.device = n.device
    LEFT JOIN gpu g ON g.id = CASE WHEN m.device IS NULL THEN n.device ELSE m.gpu END
WHERE n.device IS NOT NULL ORDER BY n.device
