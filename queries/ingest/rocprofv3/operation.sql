-- title = "rocprofv3: names of operations"
-- doc = "Buffer records name their kind and operation by number: the position in these lists."
SELECT kind_number, kind, operation, name
FROM (
    SELECT row_number() OVER (ORDER BY "row") - 1 AS kind_number, kind, unnest(operations) AS name,
        unnest(range(len(operations))) AS operation
    FROM (SELECT "row", kind, coalesce(nullif(operations, []), [NULL]) AS operations FROM record)
)
