-- doc = """Own time of an operator on the host right behind an exchange that was begun in it, in which a collective of
-- its rank ends: it waits for that, whatever it computes elsewhere. A gradient of FSDP does so for the parameters."""
-- empty_without = ["raw.collectives"]
-- types = """op_id BIGINT, start_ns BIGINT, until_ns BIGINT"""
-- [columns]
-- op_id = "the operator that waits"
-- start_ns = "end of the exchange's own operator"
-- until_ns = "end of the collective"
SELECT o.parent_id AS op_id, o.end_ns AS start_ns, min(c.end_ns) AS until_ns
FROM ops o ASOF JOIN (SELECT rank, start_ns + dur_ns AS end_ns FROM raw.collectives WHERE kernel_id IS NULL) c
    ON c.rank = o.rank AND c.end_ns >= o.end_ns
WHERE o.category = 'communication' AND o.parent_id IS NOT NULL
GROUP BY o.parent_id, o.end_ns
