-- title = "When each kernel and copy began"
-- doc = "Steps of a trace without launches are told by it."
SELECT id, start_ns FROM stage.kernels UNION ALL SELECT id, start_ns FROM stage.memcpys
