-- title = "MXNet: operators on a GPU"
-- doc = """A worker of a GPU launches an operator's kernels and waits for them: its span stands for them, under the
-- operator's name."""
SELECT id + 1 AS id, id AS external_id, start_ns, dur_ns, device, tid AS stream, name, name AS recorded_op
FROM placed WHERE direction IS NULL
