-- title = "Averages of the log"
-- doc = "Times of whole networks as the log prints them."
-- brief = ""
-- optional = true
-- lines = [
--     "{network}", "forward {forward_ns}", "backward {backward_ns}", "forward and backward {both_ns}{deviation}",
--     "{untold_ns} in passes that the log does not name", "averages over {calls} steps",
-- ]
-- [columns]
-- network = "network, where the log names it"
-- forward_ns = "forward pass"
-- backward_ns = "backward pass"
-- both_ns = "both passes"
-- deviation = "standard deviation, where the log gives it"
-- untold_ns = "if the log does not name the pass"
-- calls = "steps averaged over, at most"
SELECT coalesce('Network ' || network, 'Network') AS network, forward_ns, backward_ns, both_ns,
    if(both_ns IS NULL, '', coalesce(format(' +/- {:.1f} ms', deviation_ns / 1e6), '')) AS deviation,
    untold_ns, n AS calls
FROM network_times
WHERE NOT EXISTS (FROM account)
ORDER BY rank, run, first_id
