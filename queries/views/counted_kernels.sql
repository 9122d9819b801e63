-- doc = """FLOP, bytes and occupancy of a run of each kernel as counted by the hardware. FLOP of tensor cores and
-- special functions are not in nvprof's counts of FLOP."""
-- empty_without = ["kernel_counters"]
-- types = """kernel VARCHAR, calls BIGINT, flop DOUBLE, least_flop DOUBLE, most_flop DOUBLE, dram_bytes DOUBLE,
-- occupancy_pct DOUBLE"""
-- [columns]
-- calls = "runs of the kernel that were counted"
-- flop = "of half, single and double precision, mean of a run"
-- least_flop = "of the run with the fewest"
-- most_flop = "of the run with the most"
-- dram_bytes = "read from and written to the device's memory, mean of a run; NULL where one is not counted"
-- occupancy_pct = "warps active on a multiprocessor, of those that it can hold"
WITH told AS (
    -- A transaction moves 32 bytes.
    SELECT *, regexp_matches(counter, '^flop_count_(hp|sp|dp)$') AS is_flop,
        CASE WHEN counter IN ('dram_read_bytes', 'dram_write_bytes') THEN mean
            WHEN counter IN ('dram_read_transactions', 'dram_write_transactions') THEN 32 * mean END AS bytes
    FROM kernel_counters
)
SELECT kernel, max(calls) AS calls, sum(mean) FILTER (is_flop) AS flop, sum(least) FILTER (is_flop) AS least_flop,
    sum(most) FILTER (is_flop) AS most_flop,
    max(bytes) FILTER (counter LIKE 'dram_read%') + max(bytes) FILTER (counter LIKE 'dram_write%') AS dram_bytes,
    100 * max(mean) FILTER (counter = 'achieved_occupancy') AS occupancy_pct
FROM told GROUP BY rank, device, kernel
