-- doc = """How far each step that counts is from the usual one, in length and busy time together: the step that stands
-- for all of them is the nearest. A step may be as long as the others and hold twice the work of them."""
-- [columns]
-- n_ranks = "ranks that have it: on the others it is not known what these wait for"
-- distance = "relative differences from the medians of its rank, of length and of busy time, added; mean of the ranks"
-- from_middle = "steps between it and the middle one, which settles ties: none is chosen for being first"
SELECT step, count(*) AS n_ranks, avg(distance) AS distance, abs(step - median(step) OVER ()) AS from_middle
FROM (
    SELECT step, abs(dur_ns / nullif(median(dur_ns) OVER same, 0) - 1)
        + coalesce(abs(busy_ns / nullif(median(busy_ns) OVER same, 0) - 1), 0) AS distance
    FROM steps WHERE NOT is_warmup
    WINDOW same AS (PARTITION BY rank)
)
GROUP BY step
