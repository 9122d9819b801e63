-- title = "Backward operators with the forward operator that made them"
-- doc = """Autograd's sequence number leads there. Operators that make no graph node share the number of the next one
-- that does: the last to start is the maker."""
WITH forward AS (
    SELECT pid, sequence, arg_max(id, (start_ns, id)) AS id, max(start_ns) AS start_ns FROM stage.ops
    WHERE sequence >= 0 AND forward_thread IS NULL GROUP BY pid, sequence
)
SELECT b.id AS backward_id, f.id AS forward_id FROM stage.ops b JOIN forward f USING (pid, sequence)
WHERE b.forward_thread IS NOT NULL AND f.start_ns <= b.start_ns
