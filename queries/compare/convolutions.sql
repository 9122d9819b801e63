-- title = "Convolutions side by side"
-- doc = """Layers are matched by filter and place, or by name where both have the same names in another order; where
-- the numbers of layers with a filter differ, all of them together. Where one run records no shapes: by place if both
-- name equally many layers, else by name, and without names by direction and algorithm. Times are sums of everything
-- below the calls, so overlapping work counts twice."""
-- cannot = "There are no two runs with timelines, or no call of a convolution is recorded in any."
-- leave_out = ["matched_by", "main_diff_ns", "layout_diff_ns", "rest_diff_ns", "filter", "base_layer", "share_pct",
--     "ratio"]
-- [chart]
-- kind = "pair"
-- label = ["layer", "direction"]
-- nameless = ["direction", "algorithm"]
-- before = "base_ns"
-- after = "total_ns"
-- [columns]
-- run = "run"
-- base_layer = "layer in A"
-- layer = "layer in the run"
-- filter = "filters x channels per group x height x width"
-- direction = "fprop, dgrad or wgrad, where known; backward: both, where one of the two does not tell them apart"
-- base_algorithm = "in A"
-- algorithm = "in the run"
-- base_ns = "time of A"
-- total_ns = "time of the run"
-- diff_ns = "difference"
-- ratio = "the run's over A's"
-- main_diff_ns = "of the difference, math kernels"
-- layout_diff_ns = "of it, layout conversion"
-- rest_diff_ns = "of it, transforms, bias, activation and helpers"
-- share_pct = "of the difference of the whole step"
-- matched_by = "how the layers were matched; nothing where a row stands alone"
-- [headings]
-- share_pct = "of difference"
SELECT p.label AS run, base_layer, layer, filter, direction, base_algorithm, algorithm, c.base_ns, total_ns,
    total_ns - c.base_ns AS diff_ns, total_ns / nullif(c.base_ns, 0) AS ratio, main_diff_ns, layout_diff_ns,
    rest_diff_ns,
    100.0 * (total_ns - c.base_ns) / p.share_of_ns AS share_pct, matched_by
FROM conv_pair c JOIN pair p USING (run)
WHERE NOT p.is_log
ORDER BY p.run, abs(total_ns - c.base_ns) DESC, position, filter, direction, base_algorithm, algorithm,
    base_layer, layer
