-- title = "Trace JSON of TensorFlow 2 and JAX: devices"
-- doc = "Known by number only."
SELECT DISTINCT device, kind FROM batch WHERE device IS NOT NULL AND device NOT IN (SELECT device FROM stage.devices)
