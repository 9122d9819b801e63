-- title = "Launches of kernels"
-- record = "a run on a GPU with its runtime calls"
-- missing = "no kernel is linked to the call that launched it"
SELECT EXISTS (FROM raw.kernels WHERE launch_id IS NOT NULL)
