-- doc = """Convolutions of A beside those of another run: matched by filter and place among the layers with that
-- filter; where their numbers differ, all layers with the filter together. Where one of the two records no shapes, by
-- place if both name equally many layers, else by name, and without recorded names by direction and algorithm. Where
-- both have the same names in another order, names tell, not places. Both gradients are together where one of the two
-- does not tell them apart."""
-- [columns]
-- run = "number of the run"
-- position = "place in the order of first use, in A where it has the layer"
-- matched_by = "what the match rests on; nothing where a row stands alone"
WITH placed AS (
    SELECT run, layer, row_number() OVER (PARTITION BY run ORDER BY min(position)) AS place
    FROM conv WHERE layer IS NOT NULL GROUP BY run, layer
), counted AS (
    SELECT run, count(DISTINCT layer) AS n_layers, bool_and(layer IS NOT NULL) AS is_named,
        bool_or(filter IS NOT NULL) AS is_shaped,
        (SELECT list(layer ORDER BY place) FROM placed WHERE placed.run = conv.run) AS names
    FROM conv GROUP BY run
), shapeless AS (
    SELECT p.run, b.is_named AND r.is_named AND b.n_layers = r.n_layers
        AND (b.names = r.names OR list_sort(b.names) <> list_sort(r.names)
            OR b.names[1] LIKE '% (guessed)') AS by_place
    FROM pair p JOIN counted b ON b.run = 0 JOIN counted r ON r.run = p.run WHERE NOT (b.is_shaped AND r.is_shaped)
), shape AS (
    SELECT run, filter, list(layer ORDER BY ordinal) AS names
    FROM (SELECT DISTINCT run, filter, layer, ordinal FROM conv WHERE filter IS NOT NULL) GROUP BY run, filter
), one_to_one AS (
    SELECT p.run, filter, r.names <> b.names AND list_sort(r.names) = list_sort(b.names) AS by_name
    FROM pair p JOIN shape b ON b.run = 0 JOIN shape r USING (filter)
    WHERE r.run = p.run AND len(r.names) = len(b.names)
), side AS (
    SELECT p.run AS pair_run, c.run = 0 AS is_base, c.layer, c.filter, c.direction, c.algorithm, c.position, c.calls,
        c.total_ns, c.main_ns, c.layout_ns, c.rest_ns,
        CASE WHEN x.by_place THEN 'place' WHEN o.by_name THEN 'filter and layer'
            WHEN o.filter IS NOT NULL THEN 'filter and place' WHEN c.filter IS NOT NULL
            AND x.run IS NULL THEN 'filter'
            WHEN c.layer NOT LIKE '% (guessed)' THEN 'layer' ELSE 'algorithm' END AS rule,
        CASE WHEN x.by_place THEN CAST(l.place AS VARCHAR)
            WHEN o.filter IS NOT NULL THEN format('{} {}', c.filter,
                if(o.by_name, coalesce(c.layer, ''), CAST(c.ordinal AS VARCHAR)))
            ELSE coalesce(if(x.run IS NULL, c.filter, NULL), if(c.layer LIKE '% (guessed)', NULL, c.layer),
                c.algorithm, '') END AS match
    FROM pair p JOIN conv c ON c.run IN (0, p.run)
    LEFT JOIN one_to_one o ON o.run = p.run AND o.filter = c.filter
    LEFT JOIN shapeless x ON x.run = p.run
    LEFT JOIN placed l ON l.run = c.run AND l.layer = c.layer
), told AS (
    SELECT * REPLACE (if(direction IS DISTINCT FROM 'fprop' AND rule <> 'algorithm'
        AND bool_or(direction IS NULL) OVER pass AND bool_or(direction = 'fprop' AND is_base) OVER pass
        AND bool_or(direction = 'fprop' AND NOT is_base) OVER pass, 'backward', direction) AS direction)
    FROM side WINDOW pass AS (PARTITION BY pair_run, rule, match)
)
SELECT pair_run AS run, coalesce(min(position) FILTER (is_base), min(position)) AS position,
    string_agg(DISTINCT layer, ', ' ORDER BY layer) FILTER (is_base) AS base_layer,
    string_agg(DISTINCT layer, ', ' ORDER BY layer) FILTER (NOT is_base) AS layer, min(filter) AS filter, direction,
    string_agg(DISTINCT coalesce(algorithm, '(unknown)'), ', '
        ORDER BY coalesce(algorithm, '(unknown)')) FILTER (is_base) AS base_algorithm,
    string_agg(DISTINCT coalesce(algorithm, '(unknown)'), ', '
        ORDER BY coalesce(algorithm, '(unknown)')) FILTER (NOT is_base) AS algorithm,
    if(count(DISTINCT is_base) = 2, rule, NULL) AS matched_by,
    coalesce(sum(total_ns) FILTER (is_base), 0) AS base_ns, coalesce(sum(total_ns) FILTER (NOT is_base), 0) AS total_ns,
    coalesce(sum(if(is_base, -main_ns, main_ns)), 0) AS main_diff_ns,
    coalesce(sum(if(is_base, -layout_ns, layout_ns)), 0) AS layout_diff_ns,
    coalesce(sum(if(is_base, -rest_ns, rest_ns)), 0) AS rest_diff_ns
FROM told
GROUP BY pair_run, rule, match, direction
