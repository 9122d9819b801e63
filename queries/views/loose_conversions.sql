-- doc = """Layout conversions outside known convolution calls that another layout could make unnecessary: what
-- layout_between_operators names. Without an operator, where others have one, a conversion may be inside of a
-- convolution that is not known: it has a place where its like runs between operators and in no convolution. What XLA
-- moves for a convolution, and ONNX Runtime around its blocked ones, is a part of these, which no layout takes away; so
-- is what gives a tensor another shape (pixel_shuffle, SpaceToDepth)."""
-- [columns]
-- id = "the activity"
-- has_place = "whether it is between operators; true where no operators are recorded"
WITH placed AS (
    SELECT c.id, c.rank, o.name, o.hlo_op, concat_ws(' < ', c.name, o.path) AS inside
    FROM counted c LEFT JOIN raw.ops o ON o.id = c.op_id WHERE c.category = 'layout_transpose'
), own AS (
    SELECT id FROM placed
    WHERE regexp_matches(name, ':Reorder(In|Out)put$')
        -- What XLA itself adds has the instruction's name, behind the scope of what it works for.
        OR hlo_op <> 'transpose' AND ends_with(name, '/' || hlo_op)
        AND (rank, regexp_replace(name, '[^/]*$', '')) IN (
            SELECT (rank, regexp_replace(op_name, '[^/]*$', '')) FROM counted WHERE category = 'conv')
        -- What TensorFlow's optimizer of layouts adds has the name of what it works for.
        OR NOT contains(inside, 'LayoutOptimizer') AND regexp_matches(inside, '(?i)((pixel_?(un)?|channel_?)shuffle'
            || '|space_?to_?(depth|batch)|(depth|batch)_?to_?space|[sd]2[ds]_n)[^/<]*(<|$)')
)
SELECT c.id, c.rank, c.name, c.op_name, c.start_ns, c.mean_ns, c.per, c.is_continued,
    c.op_id IS NOT NULL OR n.is_between OR c.rank IN (SELECT rank FROM recorded WHERE ops = 0) AS has_place
FROM counted c JOIN (
    SELECT rank, name, bool_or(op_id IS NOT NULL) AND bool_and(call_id IS NULL) AS is_between FROM counted
    WHERE category = 'layout_transpose' GROUP BY rank, name
) n ON n.rank = c.rank AND n.name = c.name
WHERE c.category = 'layout_transpose' AND c.call_id IS NULL AND c.id NOT IN (SELECT id FROM plain_reorders)
    AND c.id NOT IN (SELECT id FROM filter_conversions)
    AND c.id NOT IN (FROM own)
