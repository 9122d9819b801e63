-- title = "rpd: devices"
-- doc = "It records their numbers and nothing else about them."
-- into = "devices"
-- tables = ["rocpd_op"]
-- counts = false
SELECT device, 'gpu' AS kind FROM (SELECT device FROM stage.kernels UNION SELECT device FROM stage.memcpys)
WHERE device IS NOT NULL ORDER BY device
