-- title = "Communication by model"
-- doc = """One exchange of the trace's own all-reduced bytes {per step|in the recording}, between n ranks over links of
-- one rate: a parameter server moves 2 (n - 1) times the bytes, one after the other; a tree 2 ceil(log2 n) times; a
-- ring 2 (n - 1) / n times. The rate is that at which a ring would have moved the bytes in the time in which the trace
-- shows at least one all-reduce, without what matched calls wait for the last rank. Computing is the step without
-- exposed communication. Speed-ups are over one rank that does the work of all (the same total batch, shared), and of
-- ranks that do not wait for each other."""
-- cannot = """No all-reduce whose bytes and group are recorded (PyTorch 2 writes them to each kernel; gloo needs
-- record_shapes)."""
-- leave_out = ["hidden_speedup", "hidden_step_ns", "link_bytes_per_s", "compute_ns", "size_bytes"]
-- [params]
-- ranks = { type = "VARCHAR", default = "2,4,8,16", doc = """numbers of ranks to predict for, joined by commas; the
-- trace's own is added""" }
-- link_bytes_per_s = { type = "DOUBLE", doc = "rate of a link; that of the trace when left out" }
-- latency_ns = { type = "DOUBLE", default = 0, doc = "start of every message" }
-- [columns]
-- rank = "process of the job"
-- n = "ranks"
-- model = "parameter server, tree or ring"
-- size_bytes = "bytes that each rank gives into the exchange of one step"
-- link_bytes_per_s = "rate of a link"
-- compute_ns = "computing of one rank, its share of the total batch"
-- communication_ns = "of one step, by the model"
-- step_ns = "computing, then communication"
-- hidden_step_ns = "the longer of both: communication hidden as far as it can be"
-- speedup = "over one rank with the total batch, nothing hidden"
-- hidden_speedup = "the same, hidden as far as it can be"
WITH sent AS (
    SELECT rank, sum(size_bytes / per) AS size_bytes, max(group_size) AS n,
        sum(greatest(end_ns - greatest(start_ns, coalesce(until_ns, start_ns)), 0) / per) AS dur_ns
    -- Other collectives may run beside them, so own_ns is less than the time of all-reduces.
    FROM (SELECT *, max(end_ns) OVER (PARTITION BY rank ORDER BY start_ns, end_ns DESC, id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
            AS until_ns
        FROM (SELECT e.* REPLACE (e.start_ns + coalesce(w.wait_ns, 0) AS start_ns)
            FROM exchanges e LEFT JOIN rank_waits w USING (id)
            WHERE e.is_counted AND e.what = 'all_reduce' AND e.size_bytes > 0 AND e.group_size > 1))
    GROUP BY rank
), exposed AS (
    SELECT rank, sum(step_exposed_ns / per) AS exposed_ns
    FROM exchanges
    WHERE is_counted GROUP BY rank
), measured AS (
    SELECT s.rank, s.n, s.size_bytes, (c.step_ns - e.exposed_ns) * s.n AS work_ns,
        coalesce($link_bytes_per_s, 2e9 * (s.n - 1) / s.n * s.size_bytes / s.dur_ns) AS link_bytes_per_s
    FROM sent s JOIN exposed e USING (rank) JOIN scope c USING (rank) WHERE s.dur_ns > 0
), sizes AS (
    SELECT DISTINCT n FROM (SELECT TRY_CAST(trim(unnest(string_split($ranks, ','))) AS BIGINT) AS n UNION ALL SELECT n
        FROM measured)
    WHERE n > 1
), models AS (
    SELECT * FROM (VALUES (1, 'parameter server'), (2, 'tree'), (3, 'ring')) m(position, model)
), modelled AS (
    SELECT m.rank, z.n, d.position, d.model, m.size_bytes, m.link_bytes_per_s, m.work_ns, m.work_ns / z.n AS compute_ns,
        1e9 * m.size_bytes / m.link_bytes_per_s * CASE d.position WHEN 1 THEN 2 * (z.n - 1)
            WHEN 2 THEN 2 * ceil(log2(z.n))
            ELSE 2 * (z.n - 1) / z.n END
        + $latency_ns * CASE d.position WHEN 2 THEN 2 * ceil(log2(z.n)) ELSE 2 * (z.n - 1) END AS communication_ns
    FROM measured m, sizes z, models d
)
SELECT rank, n, model, size_bytes, link_bytes_per_s, compute_ns, communication_ns,
    compute_ns + communication_ns AS step_ns,
    greatest(compute_ns, communication_ns) AS hidden_step_ns, work_ns / (compute_ns + communication_ns) AS speedup,
    work_ns / greatest(compute_ns, communication_ns) AS hidden_speedup
FROM modelled
ORDER BY rank, n, position
