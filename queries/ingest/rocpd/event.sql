-- title = "rocpd: events"
-- doc = """Columns common to regions, dispatches and copies: category, and the number that joins a call to what it
-- caused."""
-- into = "temp"
-- tables = ["rocpd_event"]
-- [source]
-- id = "BIGINT"
-- category_id = "BIGINT"
-- stack_id = "BIGINT"
-- extdata = "VARCHAR"
SELECT DISTINCT ON (s.id) s.id, c.value AS category, nullif(stack_id, 0) AS correlation,
    CASE WHEN starts_with(c.value, 'MARKER') THEN TRY(json_extract_string(extdata, '$.message')) END AS message
FROM source s LEFT JOIN string c ON c.id = category_id
ORDER BY s.id, "row"
