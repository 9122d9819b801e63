-- doc = """Convolutions by layer, filter and direction, per step and rank. The ordinal counts the layers with one
-- filter in order of first use."""
-- [columns]
-- layer = "layer; NULL where the trace names none"
-- filter = "filters x channels per group x height x width; NULL where no shape is recorded"
-- ordinal = "which of the layers with this filter"
-- position = "place in the order of first use"
-- direction = "fprop, dgrad or wgrad, where known"
-- algorithm = "how it was computed"
-- calls = "calls"
-- total_ns = "time of everything below the calls"
-- main_ns = "the arithmetic"
-- layout_ns = "layout changes"
-- rest_ns = "transforms, bias, activation and helpers"
WITH layer AS (
    SELECT layer, filter, min(position) AS position FROM chosen_calls GROUP BY ALL
), numbered AS (
    SELECT *, row_number() OVER (PARTITION BY filter ORDER BY position, layer) AS ordinal,
        row_number() OVER (ORDER BY position, layer, filter) AS place
    FROM layer
)
SELECT c.layer, c.filter, n.ordinal, n.place AS position, c.direction, c.algorithm,
    CAST(round(sum(weight), 6) AS DOUBLE) AS calls, CAST(sum(total_ns * weight) AS DOUBLE) AS total_ns,
    CAST(sum(main_ns * weight) AS DOUBLE) AS main_ns, CAST(sum(layout_ns * weight) AS DOUBLE) AS layout_ns,
    CAST(sum((transform_ns + bias_ns + activation_ns + helper_ns) * weight) AS DOUBLE) AS rest_ns
FROM chosen_calls c
JOIN numbered n ON n.layer IS NOT DISTINCT FROM c.layer AND n.filter IS NOT DISTINCT FROM c.filter
GROUP BY ALL
ORDER BY ALL
