-- title = "TensorFlow 1: rows of the device's streams"
-- doc = """Named after the operator's type: the kernel's own name is not recorded. The stream is the process that holds
-- all streams; which one it was stands in the ranges of kind device."""
SELECT id, start_ns, dur_ns, device, pid AS stream, name, op AS recorded_op FROM placed WHERE goes = 'kernels'
