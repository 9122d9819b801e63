-- title = "MXNet: copies from and to a GPU"
-- doc = "Operators of the engine, named after their direction; sizes are not recorded."
SELECT id + 1 AS id, id AS external_id, start_ns, dur_ns, device, tid AS stream, name, direction, name AS recorded_op
FROM placed WHERE direction IS NOT NULL
