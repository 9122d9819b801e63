-- title = "By kernel"
-- doc = """Counts of a profiler for each kernel (nvprof --metrics): means of a run. FLOP of tensor cores and special
-- functions are not in nvprof's counts of FLOP."""
-- cannot = "No counters of kernels in this trace (nvprof --metrics flop_count_sp,dram_read_bytes,dram_write_bytes)."
-- kernels = ["kernel"]
-- [columns]
-- kernel = "as recorded"
-- calls = "runs that were counted"
-- flop = "of half, single and double precision, a run"
-- dram_bytes = "read from and written to the memory of the device, a run"
-- flop_per_byte = "arithmetic intensity as counted"
-- occupancy_pct = "warps active on a multiprocessor, of those that it can hold"
-- others = "all other counters, as kept in the view kernel_counters"
-- [headings]
-- occupancy_pct = "of all warps"
SELECT c.kernel, max(c.calls) AS calls, avg(c.flop) AS flop, avg(c.dram_bytes) AS dram_bytes,
    avg(c.flop) / nullif(avg(c.dram_bytes), 0) AS flop_per_byte, avg(c.occupancy_pct) AS occupancy_pct,
    (SELECT count(DISTINCT counter) FROM kernel_counters k WHERE k.kernel = c.kernel AND NOT regexp_matches(counter,
        '^flop_count_(hp|sp|dp)$|^dram_(read|write)_(bytes|transactions)$|^achieved_occupancy$')) AS others
FROM counted_kernels c
GROUP BY c.kernel
ORDER BY max(c.calls * c.flop) DESC NULLS LAST, c.kernel
