-- doc = "Devices whose active and idle time do not add up to the step, or are negative."
-- [columns]
-- off_ns = "how far they are from the step"
SELECT rank, device, step_ns, active_ns, idle_ns, active_ns + idle_ns - step_ns AS off_ns
FROM account
WHERE abs(off_ns) > 1 OR least(active_ns, carried_ns, exposed_copy_ns, between_active_ns) < 0 OR idle_ns < -1
    OR carried_ns > active_ns + 1 OR exposed_copy_ns > active_ns + 1
ORDER BY rank, device
