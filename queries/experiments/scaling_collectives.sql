-- title = "Collectives of a recording"
-- doc = """The first, second ... matched collective of its kind in a step, as gradients are sent in buckets; the time
-- is the median over the steps. Where every place is one size, it is that of the bucket."""
-- [columns]
-- kind = "all_reduce ..."
-- place = "first, second ... of this kind in the step"
-- ranks = "processes that take part"
-- size_bytes = "that each rank puts in"
-- wall_ns = "without waiting for the last rank, median"
-- n = "collectives that this rests on"
-- at_ns = "start of the last rank, from the start of its step, mean"
-- wait_ns = "waiting for the last rank, mean of the ranks"
-- hidden_pct = "of the calls, while the same rank computed"
-- library = "gloo, nccl ..., by the names of the calls"
WITH placed AS (
    SELECT w.*, row_number() OVER (PARTITION BY w.rank, w.step, w.what, w.team ORDER BY w.start_ns, w.id) AS place,
        w.last_ns + w.moved_ns - s.start_ns AS at_ns
    FROM rank_waits w JOIN step_times s ON s.rank = w.rank AND s.step = w.step
    WHERE w.is_counted
), named AS (
    SELECT p.*, regexp_extract(lower(e.name), 'gloo|nccl|rccl|mpi|ucc|xccl') AS library
    FROM placed p JOIN exchanges e ON e.id = p.id
)
SELECT what AS kind, place, max(n_expected) AS ranks, CAST(mode(size_bytes) AS BIGINT) AS size_bytes,
    CAST(median(collective_ns) AS BIGINT) AS wall_ns, count(DISTINCT match_id) AS n,
    CAST(avg(at_ns) AS BIGINT) AS at_ns,
    CAST(avg(wait_ns) AS BIGINT) AS wait_ns, 100.0 * sum(hidden_ns) / nullif(sum(own_ns), 0) AS hidden_pct,
    nullif(max(library), '') AS library
FROM named
GROUP BY what, team, place
ORDER BY kind, team, place
