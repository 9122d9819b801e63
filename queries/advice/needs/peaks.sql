-- title = "Peaks of the device"
-- record = "a GPU whose size and peaks are known"
-- missing = "the peaks of the device are not known"
SELECT EXISTS (FROM device_peaks WHERE is_used AND has_tensor_cores IS NOT NULL)
