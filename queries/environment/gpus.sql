-- title = "The GPUs while steps were recorded"
-- doc = """Clock, power, heat and what lowered the clock, as the drivers of the GPUs told `traceview collect` just
-- before and just after the recorded steps; only GPUs that the process computed on."""
-- optional = true
-- cannot = "Not noted: a run without a GPU, or whose driver was not asked."
-- [columns]
-- rank = "process of the job"
-- device = "number of the GPU, as the process knows it"
-- name = "its name"
-- first_clock_hz = "clock of the multiprocessors as recording began"
-- last_clock_hz = "the same as it ended"
-- max_clock_hz = "highest clock of the GPU"
-- memory_clock_hz = "clock of its memory as recording ended"
-- mean_power_w = "mean power of the recording, by the driver's count of energy; else not recorded"
-- power_w = "power as recording ended"
-- power_limit_w = "power that the driver allows"
-- celsius = "temperature as recording ended"
-- power_held_pct = "time in which the limit of power lowered the clock, of the recording"
-- heat_held_pct = "time in which heat lowered the clock, of the recording"
-- reasons = "reasons for a lower clock that the driver named as recording began or ended"
-- [headings]
-- first_clock_hz = "clock before"
-- last_clock_hz = "clock after"
-- max_clock_hz = "highest"
-- memory_clock_hz = "memory clock"
-- mean_power_w = "mean power [W]"
-- power_w = "power after [W]"
-- power_limit_w = "limit [W]"
-- celsius = "°C"
-- power_held_pct = "held by power, of the recording"
-- heat_held_pct = "held by heat, of the recording"
-- reasons = "reasons told"
SELECT rank, g.device, g.name, g.first_clock_hz, g.last_clock_hz, g.max_clock_hz, g.memory_clock_hz, g.mean_power_w,
    g.power_w, g.power_limit_w, g.celsius, g.power_held_pct, g.heat_held_pct, g.reasons
FROM (SELECT rank, unnest(gpus) AS g FROM processes)
ORDER BY rank, g.device
