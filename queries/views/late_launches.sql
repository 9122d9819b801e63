-- title = "late_launches"
-- doc = """Kernels of the steps that count before which all devices of their rank were idle although everything before
-- had ended: their launch came too late. At most 0.1 ms: a longer stretch is not a launch but loading or waiting."""
-- [columns]
-- saved_ns = "the idle stretch, per step"
SELECT c.*, (c.start_ns - coalesce(c.rank_until_ns, s.start_ns)) / c.per AS saved_ns
FROM counted c JOIN kernels k ON k.id = c.id
-- Before the first row of a recording the devices are idle from the start of its step.
LEFT JOIN step_times s ON s.rank = c.rank AND s.step = c.step AND c.rank_until_ns IS NULL
WHERE c.kind = 'kernel' AND k.launch_start_ns + k.launch_dur_ns > coalesce(c.rank_until_ns, s.start_ns)
    AND c.start_ns - coalesce(c.rank_until_ns, s.start_ns) BETWEEN 1 AND 100000
