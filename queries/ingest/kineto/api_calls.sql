-- title = "Kineto: runtime and driver calls"
-- doc = "Calls of every back-end that Kineto knows: CUDA, ROCm, XPU, MTIA and private ones."
-- [args]
-- correlation = "BIGINT"
-- kernel = "VARCHAR"
-- "External id" = "BIGINT"
SELECT
    id, start_ns, greatest(dur_ns, 0) AS dur_ns, pid, tid, name,
    CASE WHEN contains(cat, 'driver') THEN 'driver' ELSE 'runtime' END AS kind,
    args.kernel AS kernel_name,
    args.correlation AS correlation,
    args."External id" AS external_id
FROM event
WHERE goes_to = 'api_calls'
