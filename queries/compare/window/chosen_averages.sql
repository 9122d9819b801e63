-- doc = """Average times of a log, per layer and kind, if it has nothing else: no row where anything has a place in
-- time. A layer has its network in front where the log holds several."""
-- [columns]
-- layer = "layer; NULL for a whole network"
-- kind = "category of the layer"
-- position = "place in the log"
-- forward_ns = "forward pass"
-- backward_ns = "backward pass"
-- total_ns = "all of it, with what the log does not tell the pass of"
-- n = "calls that the log's averages are of"
-- sd_ns = "their standard deviation, where the log gives it"
-- is_alternative = "whether the log times several implementations of the same, which do not add up"
-- is_told = "whether the log says which pass all of it is"
WITH told AS (
    SELECT *, concat_ws(' ', source, run, network) AS place FROM layer_times
    WHERE NOT EXISTS (FROM chosen_rows)
), about AS (
    SELECT count(DISTINCT place) AS n_places, (SELECT coalesce(bool_or(n > 1), false) FROM
        (SELECT count(DISTINCT impl) AS n FROM told GROUP BY place, layer, direction)) AS is_alternative
    FROM told
), passed AS (
    -- A log that gives the two gradients and their sum gives one time three ways: the sum counts.
    SELECT place, network, impl, layer, kind, min(id) AS first_id, max(n) AS n,
        sum(dur_ns) FILTER (direction = 'forward') AS forward_ns,
        coalesce(sum(dur_ns) FILTER (direction = 'backward'),
            sum(dur_ns) FILTER (direction LIKE 'backward_%')) AS backward_ns,
        sum(dur_ns) FILTER (direction = 'forward_backward') AS both_ns,
        sum(dur_ns) FILTER (direction IS NULL) AS untold_ns,
        max(deviation_ns) FILTER (direction IS NOT DISTINCT FROM 'forward_backward') AS both_sd_ns,
        max(deviation_ns) AS sd_ns
    FROM told GROUP BY ALL
)
SELECT CASE WHEN layer IS NOT NULL THEN concat_ws(' ', if(n_places > 1, network, NULL), if(is_alternative, impl, NULL),
    layer) END AS layer, kind,
    row_number() OVER (ORDER BY first_id) AS position, forward_ns, backward_ns,
    coalesce(both_ns, coalesce(forward_ns, 0) + coalesce(backward_ns, 0)) + coalesce(untold_ns, 0) AS total_ns,
    n, if(both_ns IS NULL, sd_ns, both_sd_ns) AS sd_ns, is_alternative, untold_ns IS NULL AS is_told
FROM passed, about
