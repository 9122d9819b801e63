-- title = "Perfetto: facts of slices that stand in no other format's tables"
-- doc = "Shapes of operators, bytes of copies. A text is numbered behind those of export_text."
-- [columns]
-- number = "number of the slice"
-- shapes_iid = "number of the text"
-- size_bytes = "bytes that a copy moves"
SELECT s.number, o.shapes, (SELECT max(iid) FROM export_text) + dense_rank() OVER (ORDER BY o.shapes) AS shapes_iid,
    CAST(NULL AS BIGINT) AS size_bytes
FROM export_slice s JOIN raw.ops o ON s.kind = 'op' AND o.id = s.id
WHERE CAST(o.shapes AS VARCHAR) SIMILAR TO '.*\d.*'
UNION ALL
SELECT s.number, NULL, NULL, m.size_bytes
FROM export_slice s JOIN raw.memcpys m ON s.kind = 'copy' AND m.id = s.id WHERE m.size_bytes IS NOT NULL
