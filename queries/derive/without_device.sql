-- title = "Work of a device that the trace does not name"
-- doc = "A copy within the host is no device's work."
SELECT id FROM stage.kernels WHERE device IS NULL
UNION ALL SELECT id FROM stage.memcpys WHERE device IS NULL AND direction IS DISTINCT FROM 'HtoH'
