-- title = "Page faults and processor time"
-- record = "a run on a CPU with ONEDNN_VERBOSE or traceview collect"
-- missing = "page faults and processor time are not recorded (traceview collect notes them)"
SELECT EXISTS (FROM processes WHERE system_ns IS NOT NULL AND n_recorded > 0)
