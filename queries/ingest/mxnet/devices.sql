-- title = "MXNet: devices"
-- doc = "Known by number only."
SELECT DISTINCT device, 'gpu' AS kind FROM placed WHERE device NOT IN (SELECT device FROM stage.devices)
