-- title = "nvprof text: the cells of each row"
-- doc = """Columns are two blanks apart at least, names and device names hold single blanks only; the name comes last
-- and may hold anything. Cells are found by number in `header`; what is not recorded is NULL."""
-- [params]
-- name_at = { type = "VARCHAR", doc = "pattern of everything before the name" }
WITH labelled AS (
    -- Only the first row of a section of a summary names it.
    SELECT "row", CASE WHEN h.section IS NOT NULL AND regexp_matches(line, '^\s*\d') THEN '-  ' || trim(line)
        ELSE trim(line) END AS line
    FROM lines, header
), split AS (
    SELECT "row", line, string_split_regex(line, '\s{2,}') AS cell FROM labelled
)
SELECT "row", list_transform(cell, lambda x: nullif(x, '-')) AS cell,
    CASE WHEN len(cell) = h.width THEN cell[h."name"] ELSE regexp_replace(line, $name_at, '') END AS name
FROM split, header
-- A row that is cut off has too few cells.
WHERE len(cell) >= h.width
