-- title = "The same work by framework"
-- doc = """Every run beside the others: time per step and rank (overlapping work counted once), and the library that
-- implements it. A bias or activation inside another kernel has no time of its own."""
-- cannot = "Nothing ran in any run."
-- leave_out = ["calls"]
-- [columns]
-- run = "run"
-- work = "bias, ReLU and other activations, convolution, product, pooling, layout conversion, or copies and memsets"
-- framework = "framework of the run"
-- busy_ns = "time per step and rank"
-- calls = "kernels, copies, primitives or operators"
-- ratio_to_best = "over the least time of any run that has such work of its own"
-- step_pct = "of the run's step time"
-- library = "libraries that implement it, most time first; (unknown) where names do not show it"
-- [headings]
-- step_pct = "of step"
WITH kind AS (
    FROM (VALUES (1, 'bias', 'bias'), (2, 'activation', 'activation (ReLU)'), (3, 'conv', 'convolution'),
        (4, 'gemm', 'matrix product'), (5, 'pooling', 'pooling'), (6, 'layout_transpose', 'layout conversion'),
        (7, 'copies', 'copies and memsets')) k(place, category, work)
), named AS (
    SELECT run, if(regexp_matches(category, '^mem(cpy|set)'), 'copies', category) AS category, library, calls, busy_ns
    FROM cell
), summed AS (
    SELECT run, category, library, sum(calls) AS calls, sum(busy_ns) AS busy_ns FROM named GROUP BY ALL
), told AS (
    SELECT run, category, sum(calls) AS calls, sum(busy_ns) AS busy_ns,
        string_agg(library, ', ' ORDER BY busy_ns DESC, library) AS library
    FROM summed GROUP BY ALL
)
SELECT chr(CAST(65 + r.run AS INTEGER)) AS run, k.work, r.framework, t.busy_ns, t.calls,
    nullif(t.busy_ns, 0) / min(nullif(t.busy_ns, 0)) OVER (PARTITION BY k.work) AS ratio_to_best,
    100.0 * t.busy_ns / nullif(r.step_ns, 0) AS step_pct, t.library
FROM run r CROSS JOIN kind k LEFT JOIN told t ON t.run = r.run AND t.category = k.category
WHERE k.category IN (SELECT category FROM told)
ORDER BY k.place, r.run
