-- title = "Source of the shapes"
-- doc = """Calls of the recording whose shapes are known, by source. FLOPs and admissible algorithms rest on
-- these."""
-- cannot = "No convolution operator in this trace."
-- [columns]
-- direction = "fprop, dgrad or wgrad; empty where one operator computes both gradients"
-- source = "where the shapes come from"
-- calls = "calls in the recording"
-- complete = "of these, with all that FLOPs need"
SELECT direction, source, count(*) AS calls, count(flop) AS complete
FROM (SELECT c.direction, coalesce(s.source, 'not known') AS source, c.flop
    FROM conv_calls c LEFT JOIN conv_shapes s ON s.op_id = c.op_id)
GROUP BY direction, source
ORDER BY list_position(['fprop', 'dgrad', 'wgrad'], direction), direction, calls DESC, source
