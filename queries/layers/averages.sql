-- title = "Averages of the log"
-- doc = """Times that a framework's own log gives per layer, each the average of a call; what a layer has several of is
-- added up. Such a log has no timeline."""
-- cannot = "No log of average layer times in this trace."
-- [columns]
-- rank = "process of the job"
-- network = "network, where the log names it"
-- run = "number of the program whose output it is, in a log of several"
-- layer = "layer; where the program named none, the framework's own name of the node"
-- kind = "what it does, told by its type"
-- type = "type, as the framework calls it"
-- impl = "implementation, where the log names it"
-- calls = "calls that the averages are of, at most"
-- forward_ns = "forward pass"
-- backward_ns = "backward pass, all gradients together"
-- both_ns = "where the log gives both passes as one"
-- untold_ns = "where the log does not tell the pass"
-- share_pct = "of the run; none where the log times several implementations of a layer, which do not add up"
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
