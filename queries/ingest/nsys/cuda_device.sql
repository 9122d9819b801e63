-- title = "nsys: CUDA's numbers of GPUs, for each process"
-- doc = "Which GPU of the machine a number means; of several rows of one number the last."
-- into = "temp"
-- tables = ["TARGET_INFO_CUDA_DEVICE"]
-- [source]
-- cudaId = "BIGINT"
-- gpuId = "BIGINT"
-- pid = "BIGINT"
-- uuid = "VARCHAR"
-- [params.pid]
-- type = "BIGINT"
-- doc = "The process; NULL for all of them."
SELECT DISTINCT ON (cudaId) cudaId AS device, gpuId AS gpu, uuid FROM source
WHERE $pid IS NULL OR pid IS NULL OR pid = $pid ORDER BY cudaId, "row" DESC
