-- title = "rocprof: devices"
-- doc = "Known by number only."
SELECT DISTINCT device, 'gpu' AS kind FROM (SELECT device FROM stage.kernels UNION SELECT device FROM stage.memcpys)
WHERE device IS NOT NULL ORDER BY device
