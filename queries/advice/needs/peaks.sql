-- title = "Peaks of the device"
-- missing = "the peaks of the device are not known"
SELECT EXISTS (FROM device_peaks WHERE is_used AND has_tensor_cores IS NOT NULL)
