-- title = "Perfetto: interned texts"
-- doc = "Each text of the export with its number."
SELECT iid, text FROM export_text UNION ALL SELECT DISTINCT shapes_iid, CAST(shapes AS VARCHAR) FROM export_fact
WHERE shapes_iid IS NOT NULL ORDER BY iid
