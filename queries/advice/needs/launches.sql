-- title = "Launches of kernels"
-- missing = "no kernel is linked to the call that launched it"
SELECT EXISTS (FROM raw.kernels WHERE launch_id IS NOT NULL)
