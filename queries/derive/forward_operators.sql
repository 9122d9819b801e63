-- title = "Backward operators with the forward operator that made them"
-- doc = """Autograd's sequence number leads there, which each thread counts by itself: where several threads had one,
-- the profiler's arrow says from which it comes, and without an arrow it is not known. Operators that make no graph
-- node share the number of the next one that does: the last to start is the maker."""
WITH forward AS (
    SELECT pid, sequence, arg_max(id, (start_ns, id)) AS id, max(start_ns) AS start_ns,
        min(tid) IS DISTINCT FROM max(tid) AS is_of_several
    FROM stage.ops WHERE sequence >= 0 AND forward_thread IS NULL GROUP BY pid, sequence
), backward AS (
    SELECT b.id, b.pid, b.tid, b.sequence, b.start_ns, f.id AS forward_id, f.start_ns AS forward_ns, f.is_of_several
    FROM stage.ops b JOIN forward f USING (pid, sequence) WHERE b.forward_thread IS NOT NULL
)
SELECT id AS backward_id, forward_id FROM backward WHERE NOT is_of_several AND forward_ns <= start_ns
UNION ALL
SELECT b.id, arg_max(f.id, (f.start_ns, f.id))
FROM backward b JOIN stage.links l ON l.kind = 'forward_backward' AND l.target_pid = b.pid AND l.target_tid = b.tid
    AND l.target_ns = b.start_ns
JOIN stage.ops f ON f.pid = b.pid AND f.tid = l.source_tid AND f.sequence = b.sequence
WHERE b.is_of_several AND f.forward_thread IS NULL AND f.start_ns <= b.start_ns
GROUP BY b.id
