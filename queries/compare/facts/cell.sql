-- doc = "Time per step and rank by everything that sections add up over; of a log of average times its layers."
-- [columns]
-- category = "what it was (docs/vocabulary.md), or that it was launched outside the steps"
-- library = "library that implements it"
-- direction = "pass of the training step, where known"
-- in_call = "whether it ran inside a convolution call; NULL where no operator is recorded for it"
-- calls = "kernels, copies, primitives or operators"
-- busy_ns = "time, overlaps counted once"
SELECT if(is_carried, '(launched outside these steps)', category) AS category,
    coalesce(library, '(unknown)') AS library, direction,
    CASE WHEN call_id IS NOT NULL THEN true WHEN op_id IS NOT NULL THEN false END AS in_call,
    CAST(round(coalesce(sum(weight) FILTER (is_start AND is_continued IS NOT true), 0), 6) AS DOUBLE) AS calls,
    CAST(sum(own_ns * weight) AS DOUBLE) AS busy_ns
FROM chosen_rows
GROUP BY ALL
UNION ALL
SELECT kind, '(unknown)', NULL, false, CAST(count(*) AS DOUBLE), CAST(sum(total_ns) AS DOUBLE)
FROM chosen_averages WHERE layer IS NOT NULL AND NOT is_alternative
GROUP BY kind
ORDER BY ALL
