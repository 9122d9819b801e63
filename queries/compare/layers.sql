-- title = "Layers side by side"
-- doc = """Matched by the shape of their convolution or product, else by what takes most of their time, and their place
-- among such layers; by main category and place where only one run records shapes; else by name, which also tells where
-- both have the same names in another order. A layer without a counterpart stands alone. Overlapping work is counted
-- once; what belongs to no layer is left out."""
-- cannot = "There are no two runs that name their layers."
-- leave_out = ["matched_by", "base_forward_ns", "base_backward_ns", "base_layer", "share_pct",
--     "ratio", "forward_ns", "backward_ns", "kind"]
-- [columns]
-- run = "run"
-- base_layer = "layer in A"
-- layer = "layer in the run"
-- kind = "shape or main category"
-- base_forward_ns = "forward time of A"
-- forward_ns = "forward time of the run"
-- base_backward_ns = "backward time of A"
-- backward_ns = "backward time of the run"
-- diff_ns = "difference of all time in the layer"
-- ratio = "the run's over A's"
-- share_pct = "of the difference of the whole step"
-- matched_by = "how the layers were matched; uncertain where names contradict the place, or are guessed from places"
-- [headings]
-- share_pct = "of difference"
SELECT p.label AS run, base_layer, layer, kind, base_forward_ns, forward_ns, base_backward_ns, backward_ns,
    total_ns - l.base_ns AS diff_ns, total_ns / nullif(l.base_ns, 0) AS ratio,
    100.0 * (total_ns - l.base_ns) / p.share_of_ns AS share_pct, matched_by
FROM layer_pair l JOIN pair p USING (run)
ORDER BY p.run, abs(total_ns - l.base_ns) DESC, position, base_layer, layer
