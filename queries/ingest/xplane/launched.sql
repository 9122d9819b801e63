-- title = "XPlane: operators that only their kernels tell of"
-- doc = """One row per run of launches of the same operator, and instruction of XLA, on a thread; without launches, per
-- run of kernels on a stream. What such an operator allocates is in its span. Of an instruction that ran several times
-- in turn (a loop, a benchmark) each is a row: XLA marks each with a span of its name. Without marks, or where those of
-- several threads overlap, it began again with its first kernel, if no kernel came once only. What a convolution of
-- several kernels may repeat within a call: there the instruction is not told, so that nothing is counted."""
WITH caused AS (
    SELECT device, stream, start_ns, dur_ns, correlation, recorded_op, hlo_op, hlo_module,
        row(name, grid_x, grid_y, grid_z) AS kernel FROM stage.kernels
    UNION ALL BY NAME SELECT device, stream, start_ns, dur_ns, correlation, recorded_op FROM stage.memcpys
), launch AS (
    SELECT correlation, arg_min({'pid': pid, 'tid': tid, 'start_ns': start_ns, 'dur_ns': dur_ns}, start_ns) AS place
    FROM stage.api_calls WHERE correlation IS NOT NULL GROUP BY correlation
), placed AS (
    SELECT recorded_op, hlo_op, hlo_module, kernel, place IS NOT NULL AS is_launched,
        coalesce(place.pid, device) AS pid, coalesce(place.tid, stream) AS tid,
        coalesce(place.start_ns, c.start_ns) AS start_ns,
        coalesce(place.start_ns + place.dur_ns, c.start_ns + c.dur_ns) AS end_ns
    FROM caused c LEFT JOIN launch l USING (correlation)
    UNION ALL BY NAME
    SELECT recorded_op, a.pid, a.tid, a.allocated_ns AS start_ns, a.allocated_ns AS end_ns
    FROM stage.allocations a JOIN (
        SELECT split_part(recorded_op, ':', 1) AS name, any_value(recorded_op) AS recorded_op FROM caused
        WHERE contains(recorded_op, ':') GROUP BY 1 HAVING count(DISTINCT recorded_op) = 1
    ) k ON k.name = a.call_stack
), missing AS (
    SELECT p.* FROM placed p LEFT JOIN stage.ops o
        ON o.pid = p.pid AND o.tid = p.tid AND o.name = p.recorded_op
        AND p.start_ns BETWEEN o.start_ns AND o.start_ns + o.dur_ns
    WHERE o.id IS NULL
), changed AS (
    SELECT *, recorded_op IS DISTINCT FROM lag(recorded_op) OVER launch
            OR coalesce(hlo_op <> lag(hlo_op IGNORE NULLS) OVER launch, false) AS is_new
    FROM missing WINDOW launch AS (PARTITION BY pid, tid ORDER BY start_ns, end_ns)
), numbered AS (
    SELECT *, count(nullif(is_new, false)) OVER (PARTITION BY pid, tid ORDER BY start_ns, end_ns) AS run FROM changed
), named AS (
    SELECT *, max(hlo_op) OVER (PARTITION BY pid, tid, run) AS instruction FROM numbered
), span AS (
    SELECT name, start_ns, start_ns + dur_ns AS end_ns, coalesce(start_ns < max(start_ns + dur_ns) OVER (
            PARTITION BY name ORDER BY start_ns, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), false)
        AS is_beside
    FROM stage.ranges WHERE kind = 'user' AND name IN (SELECT instruction FROM named)
), marked AS (
    SELECT n.*, if(n.is_launched AND n.start_ns <= m.end_ns, m.start_ns, NULL) AS mark_ns
    FROM named n ASOF LEFT JOIN (FROM span WHERE name NOT IN (SELECT name FROM span WHERE is_beside)) m
        ON m.name = n.instruction AND n.start_ns >= m.start_ns
), counted AS (
    SELECT *, count(*) OVER (PARTITION BY pid, tid, run, mark_ns, kernel) AS n,
        row_number() OVER (PARTITION BY pid, tid, run, mark_ns, kernel ORDER BY start_ns, end_ns) AS nth,
        first_value(kernel IGNORE NULLS) OVER (PARTITION BY pid, tid, run, mark_ns ORDER BY start_ns, end_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS first_kernel
    FROM marked
), told AS (
    SELECT *, if(instruction IS NULL OR mark_ns IS NOT NULL, 1, min(n) FILTER (kernel IS NOT NULL) OVER call) AS calls,
        count(kernel) OVER call > calls
            AND (contains(instruction, 'conv') OR regexp_matches(recorded_op, '(?i)conv[^/]*$')) AS may_repeat
    FROM counted WINDOW call AS (PARTITION BY pid, tid, run, mark_ns)
), split AS (
    SELECT *,
        count(nullif(calls > 1 AND NOT may_repeat AND kernel = first_kernel AND (nth - 1) % (n // calls) = 0, false))
        OVER (PARTITION BY pid, tid, run, mark_ns ORDER BY start_ns, end_ns) AS turn
    FROM told
)
SELECT pid, tid, recorded_op AS name, min(start_ns) AS start_ns, max(end_ns) - min(start_ns) AS dur_ns,
    if(bool_or(calls > 1 AND may_repeat), NULL, any_value(hlo_op)) AS hlo_op, any_value(hlo_module) AS hlo_module
FROM split WHERE recorded_op IS NOT NULL GROUP BY pid, tid, run, mark_ns, turn, recorded_op
