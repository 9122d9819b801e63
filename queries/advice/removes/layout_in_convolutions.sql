-- title = "Layout conversions inside convolutions"
-- doc = "Kernels of the rule of that name."
-- gone = ["time", "launches"]
SELECT id, rank, start_ns AS at_ns, mean_ns AS counted_ns FROM counted
WHERE category = 'layout_transpose' AND call_id IS NOT NULL AND id NOT IN (SELECT id FROM filter_conversions)
    AND rank IN (SELECT rank FROM raw.kernels)
ORDER BY id, at_ns
