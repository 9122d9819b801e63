-- doc = """Lines of the user's own code that the host was at: on the thread of each rank that launched most, stretches
-- of time with the innermost frame of the user's own code, those of frames inside it left out."""
-- materialize = true
-- empty_without = ["raw.ranges"]
-- types = """rank INTEGER, frame_id BIGINT, from_ns BIGINT, until_ns BIGINT"""
-- [columns]
-- from_ns = "since when"
-- until_ns = "until another frame of the user's began, or this one ended"
WITH thread AS (
    SELECT rank, arg_max({pid: pid, tid: tid}, n) AS main FROM (
        SELECT u.rank, u.pid, u.tid, count(*) AS n
        FROM source_lines s JOIN user_frames u ON u.id = s.frame_id GROUP BY ALL)
    GROUP BY rank
), frame AS (
    SELECT u.* FROM user_frames u JOIN thread t ON t.rank = u.rank AND t.main.pid IS NOT DISTINCT FROM u.pid
        AND t.main.tid IS NOT DISTINCT FROM u.tid
), edge AS (
    -- What ends goes before what begins at the same time, the innermost first.
    SELECT rank, start_ns AS at_ns, id AS frame_id, depth AS place FROM frame
    UNION ALL
    SELECT rank, end_ns, around_id, -1 - depth FROM frame
), stretch AS (
    SELECT rank, frame_id, at_ns AS from_ns, lead(at_ns) OVER (PARTITION BY rank ORDER BY at_ns, place) AS until_ns
    FROM edge
)
FROM stretch WHERE frame_id IS NOT NULL AND until_ns > from_ns
