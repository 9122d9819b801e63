-- title = "cell"
-- doc = "Time per step and rank by everything that sections add up over."
-- [columns]
-- category = "what it was (docs/vocabulary.md)"
-- library = "library that implements it"
-- direction = "pass of the training step, where known"
-- in_call = "whether it ran inside a convolution call"
-- calls = "kernels, copies, primitives or operators"
-- busy_ns = "time, overlaps counted once"
SELECT category, coalesce(library, '(not told)') AS library, direction, call_id IS NOT NULL AS in_call,
    CAST(coalesce(sum(weight) FILTER (is_continued IS NOT true), 0) AS DOUBLE) AS calls,
    CAST(sum(own_ns * weight) AS DOUBLE) AS busy_ns
FROM chosen_rows
GROUP BY ALL
ORDER BY ALL
