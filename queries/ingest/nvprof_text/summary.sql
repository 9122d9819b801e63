-- title = "nvprof text: rows of a summary"
-- doc = """Times are totals and averages of many calls, so they have no place on a timeline: they are kept as numbers
-- in `args`. The first row of a section names it."""
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- section = { type = "VARCHAR", doc = "section in which the rows begin" }
-- scope = { type = "VARCHAR", doc = "NVTX range that the rows repeat; NULL for the summary of the whole run" }
-- source = { type = "VARCHAR", doc = "name of the file" }
WITH numbers AS (
    SELECT "row", name, cell, h,
        list_transform([[cell[h.total], h.total_unit], [cell[h.average], h.average_unit],
            [cell[h.minimum], h.minimum_unit],
                [cell[h.maximum], h.maximum_unit]], lambda x:
            TRY_CAST(round(TRY_CAST(regexp_extract(x[1], '^[-+.\deE]+') AS DECIMAL(27, 9))
                * CASE coalesce(nullif(regexp_extract(x[1], '[a-z]+$'), ''), x[2])
                    WHEN 'ns' THEN 1::DECIMAL(10, 0) WHEN 'us' THEN 1000 WHEN 'ms' THEN 1000000 WHEN 's' THEN 1000000000
                END) AS BIGINT)) AS ns,
        TRY_CAST(round(TRY_CAST(regexp_extract(cell[h.size], '^[-+.\deE]+') AS DECIMAL(27, 9))
            * CASE coalesce(nullif(regexp_extract(cell[h.size], '[A-Z]+$'), ''), h.size_unit)
                WHEN 'B' THEN 1::DECIMAL(10, 0) WHEN 'KB' THEN 1024 WHEN 'MB' THEN 1048576 WHEN 'GB' THEN 1073741824
            END) AS BIGINT) AS total_bytes,
        coalesce(last_value(rtrim(cell[h.section], ':') IGNORE NULLS) OVER (ORDER BY "row"), $section) AS section
    FROM cells, header
)
SELECT $first + "row" AS id, 'summary' AS category, section AS phase, name,
    to_json({'source': $source, 'section': section, 'scope': $scope, 'calls': TRY_CAST(cell[h.calls] AS BIGINT),
        'total_ns': ns[1], 'avg_ns': ns[2], 'min_ns': ns[3], 'max_ns': ns[4], 'total_bytes': total_bytes}) AS args
FROM numbers
WHERE ns[1] IS NOT NULL AND name <> ''
