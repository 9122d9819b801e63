-- doc = """The gaps of idle_gaps, each with the idle time of its device before it: what is idle between two moments is
-- the difference of two look-ups. To pair every gap with every line or pause takes minutes."""
-- [columns]
-- from_ns = "start of the gap"
-- until_ns = "end of the gap"
-- before_ns = "idle time of the device before it"
SELECT rank, device, from_ns, until_ns, coalesce(sum(until_ns - from_ns) OVER (
    PARTITION BY rank, device ORDER BY from_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before_ns
FROM idle_gaps
