-- title = "nsys stats CSV: rows of a summary"
-- doc = "Totals and averages of many calls have no place on a timeline: they are kept as numbers in `args`."
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- section = { type = "VARCHAR", doc = "name of the report" }
-- source = { type = "VARCHAR", doc = "name of the file" }
WITH numbers AS (
    SELECT "row", name, cell, h,
        list_transform([[cell[h.total], h.total_unit], [cell[h.average], h.average_unit],
            [cell[h.minimum], h.minimum_unit],
                [cell[h.maximum], h.maximum_unit]], lambda x:
            -- Old versions give the unit of the total only.
            TRY_CAST(round(TRY_CAST(x[1] AS DECIMAL(27, 9)) * CASE coalesce(x[2], h.total_unit)
                WHEN 'ns' THEN 1::DECIMAL(10, 0) WHEN 'us' THEN 1000 WHEN 'ms' THEN 1000000 WHEN 's' THEN 1000000000
            END) AS BIGINT)) AS ns,
        TRY_CAST(round(TRY_CAST(cell[h.size] AS DECIMAL(27, 9)) * CASE h.size_unit
            WHEN 'KB' THEN 1000::DECIMAL(10, 0) WHEN 'MB' THEN 1000000 WHEN 'GB' THEN 1000000000
            WHEN 'KiB' THEN 1024 WHEN 'MiB' THEN 1048576 WHEN 'GiB' THEN 1073741824 ELSE 1
        END) AS BIGINT) AS total_bytes
    FROM cells, header
)
SELECT $first + "row" AS id, 'summary' AS category, $section AS phase, name,
    to_json({'source': $source, 'section': $section, 'scope': NULL, 'calls': TRY_CAST(cell[h.calls] AS BIGINT),
        'total_ns': ns[1], 'avg_ns': ns[2], 'min_ns': ns[3], 'max_ns': ns[4], 'total_bytes': total_bytes}) AS args
FROM numbers
WHERE (ns[1] IS NOT NULL OR total_bytes IS NOT NULL) AND name <> ''
