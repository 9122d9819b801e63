-- title = "The machine while steps were recorded"
-- doc = """Use of the time that the cores of the process had while steps were recorded: by this run, by other programs
-- and by a hypervisor; and how long the container's limit of cores held threads back. `traceview collect` notes it on
-- Linux."""
-- optional = true
-- cannot = "Not noted, or for less than 0.2 s: the system counts a hundred times a second."
-- [columns]
-- rank = "process of the job"
-- cores = "cores that the process may use"
-- wall_ns = "time in which it was counted: the recording, and looking at all processes behind it"
-- own_pct = "processor time of the run"
-- other_pct = "processor time of other programs and of the system, without that of a hypervisor"
-- stolen_pct = "time that a hypervisor took from the machine"
-- throttled_pct = "time for which the container's limit held threads back"
-- memory_stall_pct = "time in which some process of the machine waited for memory, of the wall time"
-- switches = "times that the process was interrupted for others"
-- [headings]
-- own_pct = "this run, of cores' time"
-- other_pct = "others, of cores' time"
-- stolen_pct = "hypervisor, of cores' time"
-- throttled_pct = "throttled, of cores' time"
-- memory_stall_pct = "memory waits, of wall time"
SELECT rank, host_cores AS cores, host_ns AS wall_ns,
    100.0 * own_ns / (host_cores * host_ns) AS own_pct,
    100.0 * greatest(busy_ns - stolen_ns - own_ns, 0) / (host_cores * host_ns) AS other_pct,
    100.0 * stolen_ns / (host_cores * host_ns) AS stolen_pct,
    100.0 * throttled_ns / (host_cores * host_ns) AS throttled_pct,
    100.0 * memory_stall_ns / host_ns AS memory_stall_pct, involuntary_switches AS switches
FROM processes WHERE host_cores * host_ns > 0
ORDER BY rank
