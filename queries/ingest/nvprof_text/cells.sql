-- title = "nvprof text: the cells of each row"
-- doc = "Text columns are two blanks apart at least, names and device names hold single blanks only; in CSV a cell is quoted or holds no comma. The name comes last in text and may hold anything. Cells are found by number in `header`; what is not recorded is NULL."
-- [params]
-- csv = { type = "BOOLEAN", doc = "whether cells are separated by commas" }
-- name_at = { type = "VARCHAR", doc = "pattern of everything before the name of a text row" }
WITH labelled AS (
    -- Only the first row of a section of a summary names it.
    SELECT "row", CASE WHEN NOT $csv AND h.section IS NOT NULL AND regexp_matches(line, '^\s*\d') THEN '-  ' || trim(line)
        ELSE trim(line) END AS line
    FROM lines, header
), split AS (
    SELECT "row", line,
        CASE WHEN $csv
            THEN list_transform(regexp_extract_all(line || ',', '("(?:[^"]|"")*"|[^,]*),', 1), lambda x:
                CASE WHEN x LIKE '"%"' AND length(x) > 1 THEN replace(x[2:-2], '""', '"') ELSE x END)
            ELSE string_split_regex(line, '\s{2,}')
        END AS cell
    FROM labelled
)
SELECT "row", list_transform(cell, lambda x: nullif(nullif(trim(x), ''), '-')) AS cell,
    CASE WHEN $csv THEN cell[h."name"] ELSE regexp_replace(line, $name_at, '') END AS name
FROM split, header
-- A row that is cut off has too few cells, or a name whose quotes do not end.
WHERE len(cell) >= h.width AND NOT ($csv AND starts_with(coalesce(cell[h."name"], '"'), '"'))
