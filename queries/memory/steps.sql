-- title = "By step"
-- doc = "Largest and last value in each step. Growth from step to step is memory that is not freed."
-- cannot = "No counter of memory was recorded inside a step."
-- leave_out = ["last_bytes"]
-- [columns]
-- rank = "process of the job"
-- device = "device number; empty for the host"
-- counter = "counter, as recorded"
-- step = "number of the step"
-- peak_bytes = "largest in the {step|recording}"
-- last_bytes = "at its end"
-- growth_bytes = "last value, compared with the end of the step before"
WITH inside AS (
    SELECT s.rank, c.device, c.name, s.step, any_value(s.start_ns) AS step_start_ns, max(c.value) AS peak_bytes,
        arg_max(c.value, (c.start_ns, c.id)) AS last_bytes
    FROM counters c ASOF JOIN step_times s ON c.rank = s.rank AND c.start_ns >= s.start_ns
    WHERE c.start_ns < s.end_ns AND c.name LIKE '%\_bytes' ESCAPE '\'
    GROUP BY s.rank, c.device, c.name, s.step
)
SELECT rank, device, name AS counter, step, peak_bytes, last_bytes,
    last_bytes - lag(last_bytes) OVER (PARTITION BY rank, device, name ORDER BY step_start_ns) AS growth_bytes
FROM inside
ORDER BY rank, device, counter, step
