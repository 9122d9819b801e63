-- doc = """One row per thing a device did, GPU or CPU. On a CPU: library primitives, and what operators spent outside
-- them and the operators within, a row for each stretch of that."""
-- [columns]
-- kind = "kernel, copy, primitive or op (what an operator spent outside primitives)"
-- id = "id of the row in its own table; the stretches of one operator share it"
-- is_continued = "whether an earlier row is a stretch of the same operator: those without count operators"
-- device = "gpu N, tpu N or cpu"
-- stream = "stream of the device, or thread of the CPU"
-- category = "what it does; docs/vocabulary.md"
-- role = "main, transform or helper of a convolution"
-- library = "library that implements it"
-- layer = "as recorded, else where no layer is as guessed_layers and guessed_linears have it"
-- call_id = "outermost convolution operator around it"
-- device_until_ns = "latest end of what started before it on its device"
-- rank_until_ns = "the same over all devices of its rank"
-- launched_ns = "end of the call that launched it; NULL where none is recorded"
SELECT e.* REPLACE (coalesce(e.layer, g.layer, l.layer) AS layer, coalesce(e.direction, f.direction) AS direction)
FROM performed e
LEFT JOIN guessed_layers g ON g.call_id = e.call_id
LEFT JOIN guessed_linears l ON l.op_id = e.op_id
LEFT JOIN forward_by_place f ON f.call_id = e.call_id
