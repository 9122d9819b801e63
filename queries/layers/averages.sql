-- title = "Averages of the log"
-- doc = """Average times per call that the framework's log reports for each layer; several entries of a layer are added
-- up. Such a log has no timeline."""
-- cannot = "No log of average times of single layers in this trace."
-- leave_out = ["impl", "run", "network", "type", "calls", "untold_ns", "both_ns"]
-- [columns]
-- rank = "process of the job"
-- network = "network, where the log names it"
-- run = "number of the program run, in a log of several"
-- layer = "layer; if the program did not name it, the framework's name of the node"
-- kind = "what it does, judged by its type"
-- type = "type, as the framework calls it"
-- impl = "implementation, where the log names it"
-- calls = "calls averaged over, at most"
-- forward_ns = "forward pass"
-- backward_ns = "backward pass, all gradients together"
-- both_ns = "both passes, if the log does not separate them"
-- untold_ns = "if the log does not name the pass"
-- share_pct = "of the run; empty if the log times several implementations of a layer, which do not add up"
-- [headings]
-- untold_ns = "pass unknown"
-- share_pct = "of run"
WITH summed AS (
    SELECT rank, network, run, layer, kind, type, impl, max(n) AS calls, min(id) AS first_id,
        sum(dur_ns) FILTER (direction = 'forward') AS forward_ns,
        -- A log that gives the two gradients and their sum, or the passes and theirs, gives one time two ways.
        coalesce(sum(dur_ns) FILTER (direction = 'backward'),
            sum(dur_ns) FILTER (direction LIKE 'backward\_%' ESCAPE '\')) AS backward_ns,
        sum(dur_ns) FILTER (direction = 'forward_backward') AS both_ns,
        sum(dur_ns) FILTER (direction IS NULL) AS untold_ns
    FROM layer_times WHERE layer IS NOT NULL GROUP BY ALL
), timed AS (
    SELECT *,
        coalesce(untold_ns, 0) + coalesce(both_ns, coalesce(forward_ns, 0) + coalesce(backward_ns, 0)) AS total_ns,
        count(impl) OVER (PARTITION BY rank, network, run, layer) AS n_impl
    FROM summed
)
SELECT rank, network, run, layer, kind, type, impl, calls, forward_ns, backward_ns, both_ns, untold_ns,
    CASE WHEN max(n_impl) OVER run <= 1 THEN 100.0 * total_ns / nullif(sum(total_ns) OVER run, 0) END AS share_pct
FROM timed
WINDOW run AS (PARTITION BY rank, network, run)
ORDER BY rank, run, network, total_ns DESC, first_id
