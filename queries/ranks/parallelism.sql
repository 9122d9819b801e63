-- title = "How the work is divided"
-- doc = """By process group (all ranks where none is recorded): by its name where that tells, else the same work on all
-- ranks and gradients added up is data parallel, different kernels on different ranks and messages from one to the next
-- are model or pipeline parallel. How alike the work is: the counts {per step|in the recording} of each kernel or
-- operator name that two ranks share, of those that either has. Each rank is compared with the lowest rank of its
-- group, and the lowest value is shown."""
-- cannot = "One rank, or no communication: nothing shows how work is divided."
-- leave_out = ["per_step", "group_name"]
-- [columns]
-- group_name = "process group, where recorded"
-- ranks = "ranks that use it"
-- kinds = "what they exchange"
-- per_step = "calls of a rank {per step|in the recording}"
-- size_bytes = "bytes per rank and step, where recorded"
-- same_pct = "of the kernels or operators of a pair of ranks, in common"
-- forward_pct = "of the calls, launched in the forward pass; where phases are known"
-- verdict = "data parallel, sharded data parallel, model or pipeline parallel ..., or not enough data"
-- [headings]
-- same_pct = "in common of work"
-- forward_pct = "forward of calls"
SELECT group_name, ranks, kinds, per_step, size_bytes, same_pct, forward_pct, verdict
FROM process_groups
WHERE ranks > 1
ORDER BY ranks DESC, size_bytes DESC NULLS LAST, group_name
