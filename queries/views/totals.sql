-- doc = """The view busy summed up: one row per kind of activity and place in time. What a report sums over all
-- activities it reads from here, however many they are. Of an activity that reaches across an edge of a step each part
-- is where it belongs; it is counted where it starts."""
-- materialize = true
-- in_job = "per * greatest({n_ranks}, 1) AS per_rank"
-- [columns]
-- is_counted = "inside steps that count, and launched in one; everything where there are no steps"
-- is_carried = "inside steps that count, but launched outside of them all"
-- is_between = "between steps that count"
-- in_call = "whether it is part of a convolution call"
-- has_op = "whether an operator is known for it"
-- is_continued = "whether it is another piece of an operator that is counted already"
-- n = "activities"
-- total_ns = "sum of their durations"
-- alone_ns = "sum of their times, less what overlaps work that started earlier on the same device"
-- min_ns = "shortest"
-- max_ns = "longest"
-- first_ns = "earliest start"
-- last_ns = "latest end"
WITH piece AS (
    SELECT *, starts_in_step AS is_start, step_alone_ns AS own_ns, is_counted AS in_step, is_carried AS in_step_carried,
        false AS is_between
    FROM busy WHERE is_counted OR is_carried
    UNION ALL
    SELECT *, NOT starts_in_step AND start_ns >= first_ns AND start_ns < last_ns, between_ns, false, false, true
    FROM busy WHERE between_ns > 0 OR NOT starts_in_step AND start_ns >= first_ns AND start_ns < last_ns
    UNION ALL
    SELECT *, NOT starts_in_step AND (start_ns < first_ns OR start_ns >= last_ns),
        alone_ns - step_alone_ns - between_ns, false, false, false
    FROM busy
    WHERE alone_ns > step_alone_ns + between_ns OR NOT starts_in_step AND (start_ns < first_ns OR start_ns >= last_ns)
)
SELECT rank, device, kind, name, category, algorithm, direction, role, library, op_name, layer, filter,
    call_id IS NOT NULL AS in_call, op_id IS NOT NULL AS has_op, is_continued, op_is_backward, op_phase,
    in_step AS is_counted, in_step_carried AS is_carried, is_between, n_steps, step_ns, per, per_rank,
    count(*) FILTER (is_start) AS n, CAST(coalesce(sum(dur_ns) FILTER (is_start), 0) AS BIGINT) AS total_ns,
    CAST(sum(own_ns) AS BIGINT) AS alone_ns,
    min(dur_ns) AS min_ns, max(dur_ns) AS max_ns, min(start_ns) AS first_ns, max(end_ns) AS last_ns
FROM piece
GROUP BY ALL
-- In one order, so that sums of floating-point numbers over it are the same each time.
ORDER BY ALL
