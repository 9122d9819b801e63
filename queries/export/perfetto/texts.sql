-- title = "Perfetto: interned texts"
-- doc = "Each text of the export with its number."
SELECT iid, text FROM export_text ORDER BY iid
