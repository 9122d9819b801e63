-- doc = """One communication call: recorded with its arguments, or a kernel of category communication, whose kind is
-- that of its name and whose size is not known. `exchanges` has what of their time is exposed."""
-- [columns]
-- id = "that of the recorded call, else that of the kernel"
-- kind = "in one spelling: all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, send_recv ..."
-- step = "step in which its kernel was launched, or else in which it began; NULL outside of steps"
SELECT c.* REPLACE (collective_kind(c.kind) AS kind), c.start_ns + c.dur_ns AS end_ns,
    CASE WHEN c.kernel_id IS NOT NULL THEN k.step WHEN c.start_ns < s.end_ns THEN s.step END AS step
FROM raw.collectives c LEFT JOIN raw.kernels k ON k.id = c.kernel_id
ASOF LEFT JOIN steps s ON s.rank = c.rank AND c.start_ns >= s.start_ns
UNION ALL BY NAME
SELECT e.id, e.rank, e.start_ns, e.dur_ns, e.end_ns, e.name, nullif(e.what, '(unknown)') AS kind, e.id AS kernel_id,
    k.step
FROM exchanges e JOIN raw.kernels k ON k.id = e.id
WHERE e.id NOT IN (SELECT kernel_id FROM raw.collectives WHERE kernel_id IS NOT NULL)
