-- doc = """On a CPU, each part of a convolution call with its share of the time in which several calls, or several
-- threads of one, worked at once: a moment is divided equally among all of them, so that sums never exceed it."""
-- [columns]
-- id = "id of the primitive or operator"
-- start_ns = "start of this part of it"
-- own_ns = "its share of the time"
WITH part AS (
    SELECT id, rank, start_ns, end_ns FROM host_rows WHERE call_id IS NOT NULL AND end_ns > start_ns
), edge AS (
    SELECT rank, start_ns AS at_ns, 1 AS way FROM part UNION ALL SELECT rank, end_ns, -1 FROM part
), moment AS (
    SELECT rank, at_ns, sum(sum(way)) OVER (PARTITION BY rank ORDER BY at_ns) AS at_once,
        lead(at_ns) OVER (PARTITION BY rank ORDER BY at_ns) - at_ns AS dur_ns
    FROM edge GROUP BY rank, at_ns
), reached AS (
    SELECT rank, at_ns, CAST(round(coalesce(sum(dur_ns / nullif(at_once, 0)) OVER (PARTITION BY rank ORDER BY at_ns
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)) AS BIGINT) AS done_ns
    FROM moment
)
SELECT p.id, p.start_ns, b.done_ns - a.done_ns AS own_ns
FROM part p
JOIN reached a ON a.rank = p.rank AND a.at_ns = p.start_ns
JOIN reached b ON b.rank = p.rank AND b.at_ns = p.end_ns
