-- title = "When something was copied between host and device"
-- doc = "By the launch, where that was recorded. A training step reads a batch or returns a loss."
SELECT coalesce(l.start_ns, m.start_ns) AS start_ns
FROM stage.memcpys m
LEFT JOIN launch l USING (correlation)
WHERE m.direction IN ('HtoD', 'DtoH')
ORDER BY start_ns
