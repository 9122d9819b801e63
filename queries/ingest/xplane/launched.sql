-- title = "XPlane: operators that only their kernels tell of"
-- doc = """One row per run of launches of the same operator, and instruction of XLA, on a thread; without launches, per
-- run of kernels on a stream. What such an operator allocates is in its span."""
WITH caused AS (
    SELECT device, stream, start_ns, dur_ns, correlation, recorded_op, hlo_op, hlo_module FROM stage.kernels
    UNION ALL BY NAME SELECT device, stream, start_ns, dur_ns, correlation, recorded_op FROM stage.memcpys
), launch AS (
    SELECT correlation, arg_min({'pid': pid, 'tid': tid, 'start_ns': start_ns, 'dur_ns': dur_ns}, start_ns) AS place
    FROM stage.api_calls WHERE correlation IS NOT NULL GROUP BY correlation
), placed AS (
    SELECT recorded_op, hlo_op, hlo_module,
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
    SELECT *, count(*) FILTER (is_new) OVER (PARTITION BY pid, tid ORDER BY start_ns, end_ns) AS run FROM changed
)
SELECT pid, tid, recorded_op AS name, min(start_ns) AS start_ns, max(end_ns) - min(start_ns) AS dur_ns,
    any_value(hlo_op) AS hlo_op, any_value(hlo_module) AS hlo_module
FROM numbered WHERE recorded_op IS NOT NULL GROUP BY pid, tid, run, recorded_op
