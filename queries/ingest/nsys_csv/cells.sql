-- title = "nsys stats CSV: the cells of each row"
-- doc = """A cell is quoted or holds no comma, but old versions print a name with commas unquoted: the name is the last
-- column there and takes the rest. Cells are found by number in `header`."""
WITH split AS (
    SELECT "row", list_transform(regexp_extract_all(line || ',', '("(?:[^"]|"")*"|[^,]*),', 1), lambda x:
        CASE WHEN x LIKE '"%"' AND length(x) > 1 THEN replace(x[2:-2], '""', '"') ELSE x END) AS cell
    FROM lines
)
SELECT "row", list_transform(cell, lambda x: nullif(nullif(trim(x), ''), '-')) AS cell,
    trim(CASE WHEN h."name" = h.width THEN array_to_string(cell[h."name":], ',') ELSE cell[h."name"] END) AS name
FROM split, header
-- A row that is cut off has too few cells, or a name whose quotes do not end.
WHERE len(cell) >= h.width AND NOT starts_with(coalesce(trim(cell[h."name"]), '"'), '"')
