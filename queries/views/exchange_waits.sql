-- doc = """Own time of autograd's wrapper of a gradient, which computes nothing, right behind an exchange that was
-- begun in it, in which a collective of its rank ends: it waits for that, as FSDP does for the parameters."""
-- empty_without = ["raw.collectives"]
-- types = """op_id BIGINT, start_ns BIGINT, until_ns BIGINT"""
-- [columns]
-- op_id = "the operator that waits"
-- start_ns = "end of the exchange's own operator"
-- until_ns = "end of the collective"
SELECT o.parent_id AS op_id, o.end_ns AS start_ns, min(c.end_ns) AS until_ns
FROM ops o JOIN (SELECT id FROM raw.ops WHERE starts_with(name, 'autograd::engine::evaluate_function: ')) g
    ON g.id = o.parent_id
ASOF JOIN (SELECT rank, start_ns + dur_ns AS end_ns FROM raw.collectives WHERE kernel_id IS NULL) c
    ON c.rank = o.rank AND c.end_ns >= o.end_ns
WHERE o.category = 'communication'
GROUP BY o.parent_id, o.end_ns
