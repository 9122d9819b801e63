-- title = "The texts of an export, numbered from 1"
-- doc = "Names and what is derived, each once."
WITH every AS (
    SELECT name AS text FROM export_chosen
    UNION SELECT recorded_category FROM export_chosen
    UNION SELECT category FROM export_chosen
    UNION SELECT algorithm FROM export_chosen
    UNION SELECT direction FROM export_chosen
    UNION SELECT role FROM export_chosen
    UNION SELECT layer FROM export_chosen
    UNION SELECT op_name FROM export_chosen
)
SELECT text, CAST(row_number() OVER (ORDER BY text) AS INTEGER) AS iid FROM every WHERE text IS NOT NULL
