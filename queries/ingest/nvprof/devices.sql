-- title = "nvprof: devices"
-- doc = "CUPTI counts bandwidth and clock in thousands."
-- into = "devices"
-- tables = ["CUPTI_ACTIVITY_KIND_DEVICE"]
-- counts = false
-- [source]
-- id = "BIGINT"
-- name = "BIGINT"
-- globalMemoryBandwidth = "BIGINT"
-- globalMemorySize = "BIGINT"
-- coreClockRate = "BIGINT"
-- numMultiprocessors = "BIGINT"
-- numThreadsPerWarp = "BIGINT"
-- maxWarpsPerMultiprocessor = "BIGINT"
-- computeCapabilityMajor = "BIGINT"
-- computeCapabilityMinor = "BIGINT"
SELECT
    source.id AS device, string.value AS name, 'gpu' AS kind,
    computeCapabilityMajor || '.' || computeCapabilityMinor AS architecture,
    numMultiprocessors AS n_cores,
    nullif(TRY(maxWarpsPerMultiprocessor * numThreadsPerWarp), 0) AS max_threads_per_core,
    globalMemorySize AS memory_bytes,
    nullif(TRY(coreClockRate * 1000), 0) AS clock_hz,
    nullif(globalMemoryBandwidth, 0) * 1000.0::DOUBLE AS memory_bytes_per_s,
    CASE WHEN globalMemoryBandwidth <> 0 THEN 'the trace (CUPTI_ACTIVITY_KIND_DEVICE)' END AS peaks_from
FROM source LEFT JOIN string ON string.id = source.name
ORDER BY "row"
