-- title = "Page faults and processor time"
-- missing = "page faults and processor time are not recorded (traceview collect notes them)"
SELECT EXISTS (FROM processes WHERE system_ns IS NOT NULL AND n_recorded > 0)
