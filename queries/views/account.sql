-- doc = """The one account of a step, for each device: active and idle add up to the step. Active is the union of
-- everything that ran on the device inside the steps that count, whoever launched it and when; what lies between two of
-- them is in neither. Without steps the whole recording counts as one."""
-- materialize = true
-- [columns]
-- per = "steps that count, or 1 without steps: what a total is divided by"
-- step_ns = "mean time of a step"
-- active_ns = "per step, the device did something"
-- carried_ns = "of it what was launched outside the steps that count"
-- exposed_copy_ns = "of it only copies between host and device ran; see exposed_copies"
-- idle_ns = "per step, the device did nothing; NULL where no time stamps tell"
-- between_ns = "time between two steps, per step; in no number above"
-- between_active_ns = "of it the device did something"
SELECT c.rank, t.device, c.n_steps, greatest(c.n_steps, 1) AS per, c.has_steps, c.step_ns,
    t.active_ns / greatest(c.n_steps, 1) AS active_ns, t.carried_ns / greatest(c.n_steps, 1) AS carried_ns,
    coalesce(e.exposed_ns, 0) / greatest(c.n_steps, 1) AS exposed_copy_ns,
    if(c.is_unstamped, NULL, (c.total_ns - t.active_ns) / greatest(c.n_steps, 1)) AS idle_ns,
    if(c.is_unstamped, NULL, 100.0 * (c.total_ns - t.active_ns) / nullif(c.total_ns, 0)) AS idle_pct,
    (c.last_ns - c.first_ns - c.total_ns) / greatest(c.n_steps, 1) AS between_ns,
    t.between_ns / greatest(c.n_steps, 1) AS between_active_ns
FROM scope c
JOIN (
    SELECT rank, device, coalesce(sum(alone_ns) FILTER (is_counted OR is_carried), 0) AS active_ns,
        coalesce(sum(alone_ns) FILTER (is_carried), 0) AS carried_ns,
        coalesce(sum(alone_ns) FILTER (is_between), 0) AS between_ns
    FROM totals GROUP BY rank, device
) t ON t.rank = c.rank
LEFT JOIN exposed_copies e ON e.rank = t.rank AND e.device = t.device
WHERE c.total_ns > 0
