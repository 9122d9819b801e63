-- title = "Whether a device did anything, and calls, graphs and operators' names lead from a kernel to its operator"
-- doc = """A call has a correlation where the profiler traced launches; few profilers write an operator's name. Where
-- some work has no device, the device is that of all the rest, if that is one."""
SELECT
    EXISTS (FROM stage.kernels) OR EXISTS (FROM stage.memcpys) AS has_rows,
    EXISTS (FROM stage.api_calls WHERE correlation IS NOT NULL) AS has_launches,
    EXISTS (FROM stage.api_calls WHERE name ILIKE '%BeginCapture%') AS has_graphs,
    EXISTS (FROM stage.kernels WHERE recorded_op IS NOT NULL)
        OR EXISTS (FROM stage.memcpys WHERE recorded_op IS NOT NULL) AS has_names,
    (SELECT if(count(*) > count(device) AND min(device) = max(device), min(device), NULL)
        FROM (SELECT device FROM stage.kernels UNION ALL SELECT device FROM stage.memcpys)) AS only_device
