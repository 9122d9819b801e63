-- title = "nvprof text: what was counted of a kernel"
-- doc = """Least, most and mean of all runs of a kernel by that name, so they have no place on a timeline. A value
-- carries its unit: %, bytes per second in powers of 1024, or a level in words with its number in brackets."""
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- source = { type = "VARCHAR", doc = "name of the file" }
-- kernel = { type = "VARCHAR", doc = "kernel that the rows of a text belong to" }
-- device = { type = "VARCHAR", doc = "device that the rows of a text belong to" }
WITH numbers AS (
    SELECT "row", coalesce(name, $kernel) AS name, coalesce(cell[h.device], $device) AS device_name,
        cell[h.counter] AS counter, cell[h.description] AS description, TRY_CAST(cell[h.calls] AS BIGINT) AS calls,
        list_transform([cell[h.minimum], cell[h.maximum], cell[h.average]], lambda x:
            TRY_CAST(regexp_extract(x, '([-+.\deE]*\d)[^\d]*$', 1) AS DOUBLE)
                * CASE regexp_extract(x, '([KMGT]?)B(?:/s)?$', 1)
                    WHEN 'K' THEN 1024 WHEN 'M' THEN 1048576 WHEN 'G' THEN 1073741824 WHEN 'T' THEN 1099511627776
                    ELSE 1 END) AS told,
        CASE WHEN cell[h.average] LIKE '%\%' ESCAPE '\' THEN '%' WHEN cell[h.average] LIKE '%B/s' THEN 'B/s'
            WHEN cell[h.average] LIKE '%(%)' THEN 'level' END AS unit
    FROM cells, header
)
SELECT $first + "row" AS id, 'kernel counter' AS category, counter AS phase, name,
    to_json({'source': $source, 'device': TRY_CAST(regexp_extract(device_name, '\((\d+)\)$', 1) AS BIGINT),
        'device_name': device_name, 'counter': counter, 'description': description, 'calls': calls, 'unit': unit,
        'least': told[1], 'most': told[2], 'mean': told[3]}) AS args
FROM numbers
WHERE told[3] IS NOT NULL AND isfinite(told[3]) AND name <> '' AND counter <> ''
