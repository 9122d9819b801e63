-- title = "rocpd: devices"
-- doc = "Processors of every type, GPUs first."
-- into = "devices"
-- tables = ["rocpd_info_agent"]
-- counts = false
SELECT device, name, architecture, lower(type) AS kind FROM agent ORDER BY type DESC, device
