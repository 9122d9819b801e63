-- doc = "Work of a device that names an operator, a launch or a step that is not in the recording of its rank."
-- [columns]
-- names = "what it names"
SELECT rank, id, name, 'operator' AS names FROM kernels k ANTI JOIN ops o ON o.id = k.op_id AND o.rank = k.rank
WHERE op_id IS NOT NULL
UNION ALL
SELECT rank, id, name, 'launch' FROM kernels k ANTI JOIN api_calls a ON a.id = k.launch_id AND a.rank = k.rank
WHERE launch_id IS NOT NULL
UNION ALL
SELECT rank, id, name, 'step' FROM kernels k ANTI JOIN steps s ON s.step = k.step AND s.rank = k.rank
WHERE step IS NOT NULL
ORDER BY rank, id, names
