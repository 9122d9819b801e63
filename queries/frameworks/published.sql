-- title = "Published times, and frameworks that cannot run here"
-- doc = """Other machines, other years: the order of frameworks may be compared, their times may not. A place is that
-- among the frameworks of the same publication, model, batch, threads and layout, where these are equal and there are
-- several."""
-- cannot = "No published times of these models."
-- leave_out = ["source", "device", "layout", "batch", "differs"]
-- [columns]
-- model = "which was computed"
-- framework = "framework and version"
-- forward_ns = "forward pass"
-- forward_place = "1 is the fastest"
-- both_ns = "forward pass and gradients"
-- both_place = "1 is the fastest"
-- training_ns = "whole training step"
-- training_place = "1 is the fastest"
-- cannot = "why it cannot be run here, where it cannot"
-- differs = "what is not equal, so that there is no place"
-- batch = "samples per step"
-- threads = "threads"
-- layout = "of images"
-- device = "on which it was measured"
-- source = "the publication"
WITH gone AS (
    SELECT framework, reason FROM raw.framework_times WHERE status = 'gone'
), found AS (
    SELECT s.*, g.reason AS cannot, len(s.differs) = 0 AS is_equal
    FROM framework_speeds s LEFT JOIN gone g USING (framework) WHERE is_published
)
SELECT model, concat_ws(' ', framework, version) AS framework, forward_ns,
    if(is_equal AND count(forward_ns) OVER same > 1 AND forward_ns IS NOT NULL,
        rank() OVER (same ORDER BY forward_ns), NULL) AS forward_place, both_ns,
    if(is_equal AND count(both_ns) OVER same > 1 AND both_ns IS NOT NULL,
        rank() OVER (same ORDER BY both_ns), NULL) AS both_place, training_ns,
    if(is_equal AND count(training_ns) OVER same > 1 AND training_ns IS NOT NULL,
        rank() OVER (same ORDER BY training_ns), NULL) AS training_place, cannot,
    if(is_equal, NULL, reason) AS differs, batch, threads, layout, device,
    source
FROM found
WINDOW same AS (PARTITION BY model, batch, threads, layout, device, source, is_equal)
ORDER BY model, batch, source, threads, layout, both_ns, training_ns, framework, device
