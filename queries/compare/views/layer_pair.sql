-- doc = """Layers of A beside those of another run, where both name layers: matched by kind (shape of their convolution
-- or product, else main category) and place among the layers of that kind where their numbers agree; by main category
-- and place where only one of the two records shapes; else by name. Where both have the same names in another order,
-- names tell, not places. What has no match stands alone."""
-- [columns]
-- run = "number of the run"
-- position = "place in the order of first use, in A where it has the layer"
-- matched_by = """what the match rests on, uncertain where the names of a pair contradict it or are guessed from places
-- while there are several such layers; nothing where a layer stands alone"""
WITH kinds AS (
    SELECT run, kind, list(layer ORDER BY ordinal) AS names FROM layer GROUP BY run, kind
), one_to_one AS (
    SELECT p.run, kind, list_intersect(b.names, r.names) AS shared, len(b.names) > 1 AS is_several
    FROM pair p JOIN kinds b ON b.run = 0 JOIN kinds r USING (kind)
    WHERE r.run = p.run AND len(r.names) = len(b.names)
        AND (r.names = b.names OR list_sort(r.names) <> list_sort(b.names))
), top AS (
    SELECT run, top, list(layer ORDER BY top_ordinal) AS names, bool_and(kind = top) AS is_shapeless
    FROM layer GROUP BY run, top
), by_top AS (
    SELECT p.run, top, list_intersect(b.names, r.names) AS shared, len(b.names) > 1 AS is_several
    FROM pair p JOIN top b ON b.run = 0 JOIN top r USING (top)
    WHERE r.run = p.run AND len(r.names) = len(b.names) AND r.is_shapeless <> b.is_shapeless
        AND (r.names = b.names OR list_sort(r.names) <> list_sort(b.names))
), side AS (
    SELECT p.run AS pair_run, l.run = 0 AS is_base, l.*,
        CASE WHEN o.kind IS NOT NULL THEN 'kind and place' WHEN t.top IS NOT NULL THEN 'category and place'
            ELSE 'name' END AS rule,
        CASE WHEN o.kind IS NOT NULL THEN format('{} {}', l.kind, l.ordinal)
            WHEN t.top IS NOT NULL THEN format('{} {}', l.top, l.top_ordinal)
            ELSE l.layer END AS match,
        list_contains(coalesce(o.shared, t.shared), l.layer) AS is_shared,
        coalesce(o.is_several, t.is_several, true) AND l.layer LIKE '% (guessed)' AS is_guess
    FROM (FROM pair WHERE run IN (SELECT run FROM layer) AND EXISTS (FROM layer WHERE run = 0)) p
    JOIN layer l ON l.run IN (0, p.run)
    LEFT JOIN one_to_one o ON o.run = p.run AND o.kind = l.kind
    LEFT JOIN by_top t ON t.run = p.run AND t.top = l.top
)
SELECT pair_run AS run, coalesce(min(position) FILTER (is_base), min(position)) AS position,
    any_value(layer) FILTER (is_base) AS base_layer, any_value(layer) FILTER (NOT is_base) AS layer,
    coalesce(any_value(kind) FILTER (kind <> top), any_value(kind)) AS kind,
    if(count(DISTINCT is_base) = 2, rule || if(bool_or(is_guess) OR count(DISTINCT layer) = 2 AND bool_or(is_shared),
        ' (uncertain)', ''), NULL) AS matched_by,
    coalesce(sum(forward_ns) FILTER (is_base), 0) AS base_forward_ns,
    coalesce(sum(forward_ns) FILTER (NOT is_base), 0) AS forward_ns,
    coalesce(sum(backward_ns) FILTER (is_base), 0) AS base_backward_ns,
    coalesce(sum(backward_ns) FILTER (NOT is_base), 0) AS backward_ns,
    coalesce(sum(total_ns) FILTER (is_base), 0) AS base_ns, coalesce(sum(total_ns) FILTER (NOT is_base), 0) AS total_ns
FROM side
GROUP BY pair_run, rule, match
