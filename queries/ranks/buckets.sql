-- title = "Collectives in the order of the step"
-- doc = """The first, second, ... matched collective of its kind in a step, as gradients are sent in buckets: mean over
-- steps and ranks. Hidden is what computing on the same rank covers. Only with steps."""
-- cannot = "No steps, or no collective that could be matched across ranks."
-- leave_out = ["bus_bytes_per_s", "group_name", "skew_ns"]
-- top = 12
-- [columns]
-- kind = "what is exchanged"
-- group_name = "process group, where recorded"
-- place = "first, second ... of this kind in the {step|recording}"
-- at_ns = "start of the last rank, from the start of its step"
-- size_bytes = "bytes of the input of a rank, where recorded"
-- wait_ns = "waiting for the last rank"
-- transfer_ns = "the rest of the call"
-- skew_ns = "between the first and the last start"
-- hidden_pct = "of the calls' time, covered by computing"
-- bus_bytes_per_s = "what a ring would move over each link, of the transfer alone"
-- [headings]
-- at_ns = "at"
-- hidden_pct = "hidden of calls"
-- bus_bytes_per_s = "bus rate"
WITH placed AS (
    SELECT w.*, row_number() OVER (PARTITION BY w.rank, w.step, w.what, w.team ORDER BY w.start_ns, w.id) AS place,
        w.last_ns + w.moved_ns - s.start_ns AS at_ns
    FROM rank_waits w JOIN step_times s ON s.rank = w.rank AND s.step = w.step
    WHERE w.is_counted
)
SELECT what AS kind, group_name, place, avg(at_ns) AS at_ns, avg(size_bytes) AS size_bytes, avg(wait_ns) AS wait_ns,
    avg(transfer_ns) AS transfer_ns, avg(skew_ns) AS skew_ns,
    100.0 * sum(hidden_ns) / nullif(sum(own_ns), 0) AS hidden_pct,
    CASE what WHEN 'all_reduce' THEN 2.0 WHEN 'all_gather' THEN max(n_expected) WHEN 'reduce_scatter' THEN 1.0
        WHEN 'all_to_all' THEN 1.0 END * (max(n_expected) - 1) / max(n_expected)
        * 1e9 * sum(size_bytes) FILTER (is_complete)
        / nullif(sum(collective_ns) FILTER (size_bytes IS NOT NULL), 0) AS bus_bytes_per_s
FROM placed
GROUP BY what, group_name, place
ORDER BY avg(at_ns), kind, group_name, place
