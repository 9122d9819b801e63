-- title = "rocprofv3: devices"
-- doc = "Those that something ran on."
SELECT device, coalesce(nullif(product_name, ''), name) AS name, 'gpu' AS kind, name AS architecture,
    cu_count AS n_cores,
    max_threads AS max_threads_per_core, memory_bytes, clock_hz
FROM agent WHERE is_gpu AND device IN (SELECT device FROM stage.kernels UNION SELECT device FROM stage.memcpys)
