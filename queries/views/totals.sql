-- title = "totals"
-- doc = """The view busy summed up: one row per kind of activity. What a report sums over all activities it reads from
-- here, however many they are."""
-- materialize = true
-- [columns]
-- in_call = "whether it is part of a convolution call"
-- has_op = "whether an operator is known for it"
-- is_continued = "whether it is another piece of an operator that is counted already"
-- n = "activities"
-- total_ns = "sum of their durations"
-- alone_ns = "sum of the parts that nothing earlier on their device covers"
-- rank_alone_ns = "sum of the parts that nothing earlier on any device of their rank covers"
-- min_ns = "shortest"
-- max_ns = "longest"
-- first_ns = "earliest start"
-- last_ns = "latest end"
-- gaps = "of them those before which the device was idle"
-- gap_ns = "for how long, in all"
-- longest_gap_ns = "longest of these"
SELECT rank, device, kind, name, category, algorithm, direction, role, library, op_name, layer, filter,
    call_id IS NOT NULL AS in_call, op_id IS NOT NULL AS has_op, is_continued, op_is_backward, op_phase, is_counted,
    n_steps, step_ns, per, per_rank,
    count(*) AS n, CAST(sum(dur_ns) AS BIGINT) AS total_ns, CAST(sum(alone_ns) AS BIGINT) AS alone_ns,
    CAST(sum(rank_alone_ns) AS BIGINT) AS rank_alone_ns,
    min(dur_ns) AS min_ns, max(dur_ns) AS max_ns, min(start_ns) AS first_ns, max(end_ns) AS last_ns,
    count(*) FILTER (start_ns > covered_until_ns) AS gaps,
    CAST(sum(start_ns - covered_until_ns) FILTER (start_ns > covered_until_ns) AS BIGINT) AS gap_ns,
    max(start_ns - covered_until_ns) FILTER (start_ns > covered_until_ns) AS longest_gap_ns
FROM busy
GROUP BY ALL
-- In one order, so that sums of floating-point numbers over it are the same each time.
ORDER BY ALL
