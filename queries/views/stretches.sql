-- doc = """Disjoint stretches of time in which any device of a rank did something, each with the busy time before it:
-- what is busy between two moments is the difference of two look-ups. To pair every activity with every step or range
-- takes minutes."""
-- [columns]
-- from_ns = "start"
-- before_ns = "busy time of the rank before it"
SELECT rank, from_ns, end_ns, coalesce(sum(end_ns - from_ns) OVER (
    PARTITION BY rank ORDER BY from_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before_ns
FROM (
    SELECT rank, end_ns, greatest(start_ns, coalesce(rank_until_ns, start_ns)) AS from_ns FROM performed
)
WHERE end_ns > from_ns
