-- doc = """Counters of the hardware by kernel, where a profiler counted them and printed its averages: one row for each
-- kernel and counter, over all runs of the kernel. A profiler runs a kernel again for each group of counters, alone."""
-- empty_without = ["raw.events"]
-- types = """rank INTEGER, device BIGINT, kernel VARCHAR, counter VARCHAR, calls BIGINT, least DOUBLE, most DOUBLE,
-- mean DOUBLE, unit VARCHAR, description VARCHAR"""
-- [columns]
-- rank = "process of the job"
-- calls = "runs of the kernel that were counted"
-- mean = "mean of a run"
-- unit = "%, B/s, level (0 to 10), or none for a plain number"
SELECT rank, TRY_CAST(args->>'$.device' AS BIGINT) AS device, name AS kernel, args->>'$.counter' AS counter,
    TRY_CAST(args->>'$.calls' AS BIGINT) AS calls, TRY_CAST(args->>'$.least' AS DOUBLE) AS least,
    TRY_CAST(args->>'$.most' AS DOUBLE) AS most, TRY_CAST(args->>'$.mean' AS DOUBLE) AS mean, args->>'$.unit' AS unit,
    args->>'$.description' AS description
FROM raw.events WHERE category = 'kernel counter'
