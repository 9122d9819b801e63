-- doc = """Average times of whole networks that a log gives, one row per network and program run, with what its layers
-- add up to. A time that the log does not print is NULL."""
-- empty_without = ["layer_times"]
-- types = """rank INTEGER, network VARCHAR, run BIGINT, forward_ns BIGINT, backward_ns BIGINT, both_ns BIGINT,
-- untold_ns BIGINT, all_ns BIGINT, n BIGINT, deviation_ns BIGINT, first_id BIGINT"""
-- [columns]
-- rank = "process of the job"
-- network = "network, where the log names it"
-- run = "number of the program run, in a log of several"
-- forward_ns = "forward pass"
-- backward_ns = "backward pass, all gradients together"
-- both_ns = "both passes, where the log gives their sum"
-- untold_ns = "where the log does not name the pass"
-- all_ns = "all passes that the log gives; their printed sum, if there is one"
-- n = "calls averaged over, at most"
-- deviation_ns = "standard deviation of the longest of these times, where the log gives it"
-- first_id = "place in the log"
SELECT * EXCLUDE (n, deviation_ns, first_id),
    coalesce(both_ns, nullif(coalesce(forward_ns, 0) + coalesce(backward_ns, 0) + coalesce(untold_ns, 0), 0)) AS all_ns,
    n, deviation_ns, first_id
FROM (
    SELECT rank, network, run, CAST(sum(dur_ns) FILTER (direction = 'forward') AS BIGINT) AS forward_ns,
        CAST(coalesce(sum(dur_ns) FILTER (direction = 'backward'),
            sum(dur_ns) FILTER (direction LIKE 'backward\_%' ESCAPE '\')) AS BIGINT) AS backward_ns,
        CAST(sum(dur_ns) FILTER (direction = 'forward_backward') AS BIGINT) AS both_ns,
        CAST(sum(dur_ns) FILTER (direction IS NULL) AS BIGINT) AS untold_ns,
        max(n) AS n, arg_max(deviation_ns, dur_ns) AS deviation_ns, min(id) AS first_id
    FROM layer_times WHERE layer IS NULL
    GROUP BY rank, network, run
)
