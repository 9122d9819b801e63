-- title = "Layout conversions between operators"
-- doc = "Kernels and primitives of the rule of that name."
-- gone = ["time", "launches"]
SELECT id, rank, start_ns AS at_ns, mean_ns AS counted_ns FROM counted
WHERE category = 'layout_transpose' AND call_id IS NULL AND id NOT IN (SELECT id FROM plain_reorders)
    AND id NOT IN (SELECT id FROM filter_conversions)
ORDER BY id, at_ns
