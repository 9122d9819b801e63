-- title = "Collected operators: steps, passes and calls"
-- doc = "A call is one of a compiled function. The pass of each operator is known from the graph."
SELECT id, start_ns, dur_ns, pid, tid, CASE WHEN cat IN ('step', 'phase') THEN cat ELSE 'user' END AS kind, name,
    CASE cat WHEN 'step' THEN NULL WHEN 'phase' THEN 'graph' ELSE cat END AS domain
FROM event WHERE ph = 'X' AND cat <> 'operator' AND start_ns IS NOT NULL AND dur_ns IS NOT NULL
