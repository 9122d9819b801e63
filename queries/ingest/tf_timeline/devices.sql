-- title = "TensorFlow 1: devices"
-- doc = "Named by the processes of the file."
SELECT DISTINCT device, regexp_replace(label, '/(stream:all|memcpy) Compute$', '') AS name, 'gpu' AS kind
FROM placed WHERE goes IN ('kernels', 'memcpys') AND device NOT IN (SELECT device FROM stage.devices)
