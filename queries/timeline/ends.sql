-- title = "Starts and ends of the slices, in the order in which they come on their track"
-- doc = """At one time what ends comes before what begins, the innermost first; what takes no time begins and ends
-- after what begins then. Texts are numbers of export_text."""
-- [columns]
-- tid = "the track"
-- at_ns = "time"
-- begins = "1 for a start, 0 for an end"
-- flow = "number that a launching call and what it launched share"
WITH flow AS (
    SELECT d.number, a.number AS flow
    FROM (SELECT id, launch_id FROM kernels UNION ALL SELECT id, launch_id FROM memcpys) l
    JOIN export_slice a ON a.kind = 'api_call' AND a.id = l.launch_id
    JOIN export_slice d ON d.kind IN ('kernel', 'copy') AND d.id = l.id
), told AS (
    FROM flow UNION ALL SELECT DISTINCT flow, flow FROM flow
), slice AS (
    SELECT s.*, n.iid AS name_iid, r.iid AS recorded_iid, c.iid AS category_iid, a.iid AS algorithm_iid,
        d.iid AS direction_iid, o.iid AS role_iid, y.iid AS layer_iid, p.iid AS op_iid, f.flow
    FROM export_placed s
    LEFT JOIN export_text n ON n.text = s.name
    LEFT JOIN export_text r ON r.text = s.recorded_category
    LEFT JOIN export_text c ON c.text = s.category
    LEFT JOIN export_text a ON a.text = s.algorithm
    LEFT JOIN export_text d ON d.text = s.direction
    LEFT JOIN export_text o ON o.text = s.role
    LEFT JOIN export_text y ON y.text = s.layer
    LEFT JOIN export_text p ON p.text = s.op_name
    LEFT JOIN told f ON f.number = s.number
), half AS (
    SELECT *, at_ns AS when_ns, 1 AS begins, if(dur_ns = 0, 2, 1) AS turn, 0 AS inner_first, number AS place
    FROM slice
    UNION ALL BY NAME
    SELECT *, at_ns + dur_ns AS when_ns, 0 AS begins, if(dur_ns = 0, 2, 0) AS turn,
        if(dur_ns = 0, 0, -at_ns) AS inner_first, if(dur_ns = 0, number, -number) AS place
    FROM slice
)
SELECT tid, when_ns AS at_ns, begins, name_iid, recorded_iid, category_iid, algorithm_iid, direction_iid, role_iid,
    layer_iid, op_iid, step, flow
FROM half
ORDER BY tid, when_ns, turn, inner_first, place, begins DESC
