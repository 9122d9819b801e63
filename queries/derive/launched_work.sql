-- title = "When kernels were launched, when they ended and how long they ran"
-- doc = "By the launch, where that was recorded. Without kernels, operators: those are the work of a CPU."
SELECT coalesce(l.start_ns, k.start_ns) AS start_ns, k.start_ns + k.dur_ns AS end_ns, k.dur_ns
FROM stage.kernels k
LEFT JOIN launch l USING (correlation)
UNION ALL
SELECT start_ns, start_ns + dur_ns, dur_ns FROM stage.ops WHERE NOT EXISTS (FROM stage.kernels)
ORDER BY start_ns
