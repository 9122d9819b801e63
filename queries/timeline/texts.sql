-- title = "The texts of an export, numbered from 1"
-- doc = "Names and what is derived, each once."
WITH every AS (
    SELECT name AS text FROM export_slice
    UNION SELECT recorded_category FROM export_slice
    UNION SELECT category FROM export_slice
    UNION SELECT algorithm FROM export_slice
    UNION SELECT direction FROM export_slice
    UNION SELECT role FROM export_slice
    UNION SELECT layer FROM export_slice
    UNION SELECT op_name FROM export_slice
)
SELECT text, row_number() OVER (ORDER BY text) AS iid FROM every WHERE text IS NOT NULL
