-- title = "When kernels were launched, and how long they ran"
-- doc = "By the launch, where that was recorded."
SELECT coalesce(l.start_ns, k.start_ns) AS start_ns, k.dur_ns
FROM stage.kernels k
LEFT JOIN (SELECT correlation, min(start_ns) AS start_ns FROM stage.api_calls
    WHERE correlation IS NOT NULL GROUP BY correlation) l USING (correlation)
ORDER BY start_ns
