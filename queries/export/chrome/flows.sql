-- title = "Chrome JSON: arrows"
-- doc = """From each launching call to what it put on the device, and from each operator of the forward pass to its
-- gradient. Both ends carry one number."""
WITH launch AS (
    SELECT id, launch_id FROM kernels UNION ALL SELECT id, launch_id FROM memcpys
), arrow AS (
    SELECT 'ac2g' AS cat, 'launch' AS name, a.number AS source, d.number AS target
    FROM launch l
    JOIN export_slice a ON a.kind = 'api_call' AND a.id = l.launch_id
    JOIN export_slice d ON d.kind IN ('kernel', 'copy') AND d.id = l.id
    UNION ALL
    SELECT 'fwdbwd', 'forward to backward', f.number, b.number
    FROM ops o
    JOIN export_slice f ON f.kind = 'op' AND f.id = o.forward_id
    JOIN export_slice b ON b.kind = 'op' AND b.id = o.id
)
SELECT CAST(to_json({ph: 's', id: w.target, cat: w.cat, name: w.name, pid: s.pid, tid: s.tid, ts: s.ts}) AS VARCHAR)
    AS event
FROM arrow w JOIN export_placed s ON s.number = w.source
UNION ALL
SELECT CAST(to_json({ph: 'f', bp: 'e', id: w.target, cat: w.cat, name: w.name, pid: s.pid, tid: s.tid, ts: s.ts})
    AS VARCHAR)
FROM arrow w JOIN export_placed s ON s.number = w.target
