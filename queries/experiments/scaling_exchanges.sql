-- title = "Communication of a recording"
-- doc = "Per step, mean of the ranks: one row, also where nothing was exchanged; without steps nothing in it."
-- [columns]
-- ranks_found = "processes in the recording"
-- library = "gloo, nccl ..., by the names of the calls"
-- calls = "of a rank"
-- step_ns = "the step"
-- communication_ns = "time in which some communication of the rank was under way"
-- exposed_ns = "of it while nothing computed on the rank"
-- wait_ns = "of matched calls, until the last rank came"
-- transfer_ns = "of matched calls, the rest"
-- gradient_bytes = "that a rank put into all-reduce and reduce-scatter"
-- parameters = "of the model, as noted while recording"
-- slowest_ns = "the step of the slowest rank"
-- batch = """of a rank, as noted while recording, else the first dimension of what most convolutions read; times the
-- passes whose gradients a step adds up"""
-- noted_batch = "the same as noted alone; convolutions may read a part of it at a time"
-- filters = "of the convolutions of all ranks, each once; NULL where none has its shape recorded"
WITH noted AS (
    SELECT max(TRY_CAST(p.value->>'$.model.parameters' AS BIGINT)) AS parameters,
        max(TRY_CAST(p.value->>'$.model.batch' AS BIGINT)) AS batch
    FROM raw.captures o, json_each(o.options, '$.ranks') p
), read AS (
    SELECT mode(input_shape[1] ORDER BY input_shape[1]) AS batch,
        list_sort(list(DISTINCT filter_shape) FILTER (filter_shape IS NOT NULL)) AS filters
    FROM counted_conv_calls WHERE direction = 'fprop'
), sent AS (
    SELECT rank, count(*) / any_value(per) AS calls, sum(step_own_ns) / any_value(per) AS communication_ns,
        sum(step_exposed_ns) / any_value(per) AS exposed_ns,
        mode(regexp_extract(lower(name), 'gloo|nccl|rccl|mpi|ucc|xccl')) AS library,
        sum(size_bytes) FILTER (what IN ('all_reduce', 'reduce_scatter')) / any_value(per) AS gradient_bytes
    FROM exchanges WHERE is_counted GROUP BY rank
), waited AS (
    SELECT rank, sum(step_wait_ns) / any_value(per) AS wait_ns, sum(step_transfer_ns) / any_value(per) AS transfer_ns
    FROM rank_waits WHERE is_counted GROUP BY rank
)
SELECT count(*) AS ranks_found, nullif(max(s.library), '') AS library, avg(coalesce(s.calls, 0)) AS calls,
    CAST(avg(c.step_ns) AS BIGINT) AS step_ns, CAST(avg(coalesce(s.communication_ns, 0)) AS BIGINT) AS communication_ns,
    CAST(avg(coalesce(s.exposed_ns, 0)) AS BIGINT) AS exposed_ns, CAST(avg(w.wait_ns) AS BIGINT) AS wait_ns,
    CAST(avg(w.transfer_ns) AS BIGINT) AS transfer_ns, CAST(avg(s.gradient_bytes) AS BIGINT) AS gradient_bytes,
    (SELECT parameters FROM noted) AS parameters, max(c.step_ns) AS slowest_ns,
    coalesce((SELECT batch FROM noted), (SELECT batch FROM read)) * coalesce((SELECT passes FROM step_passes), 1)
        AS batch,
    (SELECT batch FROM noted) * coalesce((SELECT passes FROM step_passes), 1) AS noted_batch,
    (SELECT filters FROM read) AS filters
FROM scope c LEFT JOIN sent s ON s.rank = c.rank LEFT JOIN waited w ON w.rank = c.rank
WHERE c.step_ns > 0 AND c.has_steps
