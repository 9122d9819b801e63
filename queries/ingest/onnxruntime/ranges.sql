-- title = "ONNX Runtime: the session, and what surrounds nodes"
-- doc = "One run of the model is a step."
SELECT id, start_ns, dur_ns, pid, tid, CASE WHEN name = 'model_run' THEN 'step' ELSE 'user' END AS kind, name,
    cat AS domain
FROM event
WHERE ph = 'X' AND start_ns IS NOT NULL AND dur_ns IS NOT NULL
    AND cat IS DISTINCT FROM 'Kernel' AND NOT (cat = 'Node' AND name LIKE '%\_kernel\_time' ESCAPE '\')
