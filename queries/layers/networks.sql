-- title = "Averages of whole networks"
-- doc = """Average times per step that the log prints for a whole network. A time that the log does not print stays
-- empty."""
-- cannot = "No log of average times of a whole network in this trace."
-- leave_out = ["rank", "run", "untold_ns"]
-- [columns]
-- rank = "process of the job"
-- network = "network, where the log names it"
-- run = "number of the program run, in a log of several"
-- forward_ns = "forward pass"
-- backward_ns = "backward pass, all gradients together"
-- both_ns = "both passes"
-- untold_ns = "if the log does not name the pass"
-- sd_ns = "standard deviation of the longest of these times, where the log gives it"
-- calls = "steps averaged over, at most"
-- [headings]
-- untold_ns = "pass unknown"
SELECT rank, network, run, forward_ns, backward_ns, both_ns, untold_ns, deviation_ns AS sd_ns, n AS calls
FROM network_times
ORDER BY rank, run, network, first_id
