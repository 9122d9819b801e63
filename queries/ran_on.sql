-- title = "What a recording ran on"
-- doc = "One row: framework, kind of device, its product name, and the threads of a CPU."
-- [columns]
-- framework = "framework as recorded, NULL where it is not known; of several ranks, that of the first"
-- known_as = "framework in lower case, as recorded or by the names of kernels, of the first rank that has one"
-- device = "cpu, gpu or tpu"
-- model = "product name of the processor, or of the first other device"
-- threads = "threads that the first rank computes with; NULL on other devices"
WITH first AS (SELECT min(rank) AS rank FROM raw.captures
), used AS (
    SELECT EXISTS (FROM raw.kernels) OR EXISTS (FROM raw.memcpys) AS has_device
), device AS (
    SELECT arg_min(kind, rank) AS kind, arg_min(name, rank) AS name FROM raw.devices WHERE kind IN ('gpu', 'tpu')
), cpu AS (
    SELECT any_value(p.processor) AS processor, any_value(p.threads) AS threads
    FROM processes p JOIN first USING (rank)
), framework AS (
    SELECT max(c.framework) AS name FROM raw.captures c JOIN first USING (rank)
), known AS (
    SELECT arg_min(framework, rank) AS name FROM known_frameworks
)
SELECT framework.name AS framework, known.name AS known_as,
    if(has_device, coalesce(device.kind, 'gpu'), 'cpu') AS device, if(has_device, device.name, cpu.processor) AS model,
    if(has_device, NULL, cpu.threads) AS threads
FROM framework, known, used, device, cpu
