-- doc = "Stretches of idle time whose causes do not add up, or of which one is negative."
-- [columns]
-- off_ns = "how far the causes are from the whole"
SELECT rank, device, from_ns, until_ns, idle_ns,
    data_ns + allocation_ns + communication_ns + capture_ns + synchronisation_ns + between_steps_ns + launch_ns
        + unknown_ns - idle_ns AS off_ns
FROM idle_gaps
WHERE off_ns <> 0 OR idle_ns > until_ns - from_ns
    OR least(data_ns, allocation_ns, communication_ns, capture_ns, synchronisation_ns, between_steps_ns, launch_ns,
        unknown_ns) < 0
ORDER BY rank, device, from_ns
