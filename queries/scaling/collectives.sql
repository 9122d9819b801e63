-- title = "Collectives in the order of the step"
-- doc = """As gradients are sent in buckets. Published times stand at the end; devices differ, so the rates are what
-- compares. Rates are of the transfer alone."""
-- cannot = "No times of collectives in this capture; `traceview study import` reads published ones."
-- leave_out = ["n", "library", "at_ns", "wait_ns", "source"]
-- top = 40
-- [headings]
-- hidden_pct = "hidden of calls"
-- algorithm_bytes_per_s = "rate"
-- bus_bytes_per_s = "bus rate"
-- [columns]
-- kind = "all_reduce ..."
-- ranks = "processes that take part"
-- batch = "of a rank"
-- place = "first, second ... of the step"
-- size_bytes = "that each rank puts in"
-- wall_ns = "without waiting for the last rank"
-- at_ns = "its start, from the start of the step"
-- wait_ns = "for the last rank"
-- hidden_pct = "of the calls, while the same rank computed"
-- algorithm_bytes_per_s = "bytes over time"
-- bus_bytes_per_s = "what a ring would move over each link"
-- n = "collectives that this rests on"
-- library = "what did it"
-- status = "measured or published"
-- source = "the publication"
SELECT kind, ranks, batch, place, size_bytes, wall_ns, at_ns, wait_ns, hidden_pct,
    1e9 * size_bytes / nullif(wall_ns, 0) AS algorithm_bytes_per_s,
    if(kind = 'all_reduce', 2.0 * (ranks - 1) / nullif(ranks, 0) * 1e9 * size_bytes / nullif(wall_ns, 0), NULL)
        AS bus_bytes_per_s,
    n, library, status, source
FROM raw.collective_times
ORDER BY status, source, mode, batch, nodes, ranks, kind, place, size_bytes, wall_ns, n, library
