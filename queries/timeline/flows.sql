-- title = "Slices that an arrow joins"
-- doc = "Work put on a device, and its call; an operator of the forward pass, and its gradients."
-- [columns]
-- number = "number of the slice"
-- flow = "number that both ends of the arrow share: that of the call, or of the forward operator"
WITH flow AS (
    SELECT d.number, a.number AS flow
    FROM (SELECT id, launch_id FROM kernels UNION ALL SELECT id, launch_id FROM memcpys) l
    JOIN export_slice a ON a.kind = 'api_call' AND a.id = l.launch_id
    JOIN export_slice d ON d.kind IN ('kernel', 'copy') AND d.id = l.id
    UNION ALL
    SELECT b.number, f.number
    FROM raw.ops o
    JOIN export_slice f ON f.kind = 'op' AND f.id = o.forward_id
    JOIN export_slice b ON b.kind = 'op' AND b.id = o.id
    WHERE o.is_backward
)
FROM flow UNION ALL SELECT DISTINCT flow, flow FROM flow WHERE flow NOT IN (SELECT number FROM flow)
