-- title = "rocprofv3: agents"
-- doc = "Processors and GPUs of the machine. A GPU is numbered among the GPUs, as HIP does."
SELECT record.id_1.handle AS handle, type = 2 AS is_gpu, logical_node_type_id AS device, name, product_name, cu_count,
    wave_front_size * max_waves_per_cu AS max_threads, max_engine_clk_fcompute * 1000000 AS clock_hz,
    nullif(list_sum(list_transform(mem_banks, lambda bank: bank.size_in_bytes)), 0) AS memory_bytes
FROM record
