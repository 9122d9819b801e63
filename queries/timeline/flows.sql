-- title = "Slices that an arrow joins"
-- doc = "Work put on a device, and its call."
-- [columns]
-- number = "number of the slice"
-- flow = "number that both ends of the arrow share: that of the call"
WITH flow AS (
    SELECT d.number, a.number AS flow
    FROM (SELECT id, launch_id FROM kernels UNION ALL SELECT id, launch_id FROM memcpys) l
    JOIN export_slice a ON a.kind = 'api_call' AND a.id = l.launch_id
    JOIN export_slice d ON d.kind IN ('kernel', 'copy') AND d.id = l.id
)
FROM flow UNION ALL SELECT DISTINCT flow, flow FROM flow
