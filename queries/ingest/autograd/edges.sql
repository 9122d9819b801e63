-- title = "Autograd profiler: times at which rows of a device begin or end"
-- doc = "One row each, with the time until the next; times twice, so that there is a middle."
SELECT device, at_ns, coalesce(lead(at_ns) OVER (PARTITION BY device ORDER BY at_ns) - at_ns, 0) AS dur_ns
FROM (SELECT DISTINCT device, unnest([start_ns, start_ns + dur_ns]) AS at_ns FROM stage.kernels)
ORDER BY device, at_ns
