-- title = "Starts and ends of the slices, in the order in which they come on their track"
-- doc = """Tracks and times lie between export_first and export_last, export_from_ns and export_until_ns (variables).
-- At one time what ends comes before what begins, the innermost first; what takes no time begins and ends after what
-- begins then. Texts are numbers of export_text."""
-- [columns]
-- tid = "the track"
-- at_ns = "time"
-- begins = "1 for a start, 0 for an end"
-- flow = "number that both ends of an arrow share"
-- number = "number of the slice"
WITH slice AS (
    SELECT s.*, p.tid, p.origin_ns, f.flow
    FROM export_slice s
    LEFT JOIN export_lane l ON l.number = s.number
    JOIN export_track p ON p.thread_number = s.thread_number AND p.lane = coalesce(l.lane, 0)
    LEFT JOIN export_flow f ON f.number = s.number
    WHERE p.tid BETWEEN getvariable('export_first') AND getvariable('export_last')
), half AS (
    SELECT *, start_ns AS when_ns, 1 AS begins, if(end_ns = start_ns, 2, 1) AS turn, 0 AS inner_first, number AS place
    FROM slice
    WHERE start_ns >= getvariable('export_from_ns') AND start_ns < getvariable('export_until_ns')
    UNION ALL BY NAME
    SELECT *, end_ns AS when_ns, 0 AS begins, if(end_ns = start_ns, 2, 0) AS turn,
        if(end_ns = start_ns, 0, -start_ns) AS inner_first, if(end_ns = start_ns, number, -number) AS place
    FROM slice
    WHERE end_ns >= getvariable('export_from_ns') AND end_ns < getvariable('export_until_ns')
)
SELECT tid, when_ns - origin_ns AS at_ns, begins, name_iid, recorded_iid, category_iid, algorithm_iid, direction_iid,
    role_iid, layer_iid, op_iid, step, flow, number
FROM half
ORDER BY tid, when_ns, turn, inner_first, place, begins DESC
