-- title = "rpd: memory copies and memsets"
-- doc = """The size is that of the call, which has it of all its copies together: one of several has none, nor has a
-- fill."""
-- into = "memcpys"
-- tables = ["rocpd_op"]
SELECT
    o.id, o.start_ns, o.end_ns - o.start_ns AS dur_ns, device, stream, o.type AS name,
    CASE
        WHEN type LIKE 'Fill%' OR type LIKE 'Memset%' THEN 'memset' WHEN type LIKE '%HostToDevice%' THEN 'HtoD'
        WHEN type LIKE '%DeviceToHost%' THEN 'DtoH'
        WHEN type LIKE '%DeviceToDevice%' THEN if(c.srcDevice <> c.dstDevice, 'PtoP', 'DtoD')
        WHEN type LIKE '%PeerToPeer%' THEN 'PtoP' WHEN type LIKE '%HostToHost%' THEN 'HtoH' ELSE 'unknown'
    END AS direction,
    CASE WHEN type LIKE 'Copy%' THEN c.srcDevice END AS src_device,
    CASE WHEN type LIKE 'Copy%' THEN c.dstDevice END AS dst_device,
    CASE WHEN type LIKE 'Copy%' AND n.copies = 1 THEN c.size END AS size_bytes, o.api_id AS correlation
FROM op o LEFT JOIN copy_call c ON c.api_ptr_id = o.api_id
LEFT JOIN (SELECT api_id, count(*) AS copies FROM op WHERE type LIKE 'Copy%' GROUP BY api_id) n ON n.api_id = o.api_id
WHERE (type LIKE 'Copy%' OR type LIKE 'Fill%' OR type LIKE 'Memset%') AND o.start_ns IS NOT NULL
    AND o.end_ns IS NOT NULL
