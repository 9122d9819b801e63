-- doc = """Layout conversions outside known convolution calls that another layout could make unnecessary: what
-- layout_between_operators names. Without an operator, where others have one, a conversion may be inside of a
-- convolution that is not known: it has a place where its like runs between operators and in no convolution."""
-- [columns]
-- id = "the activity"
-- has_place = "whether it is between operators; true where no operators are recorded"
SELECT c.id, c.rank, c.name, c.op_name, c.start_ns, c.mean_ns, c.per, c.is_continued,
    c.op_id IS NOT NULL OR n.is_between OR c.rank NOT IN (SELECT rank FROM raw.ops) AS has_place
FROM counted c JOIN (
    SELECT rank, name, bool_or(op_id IS NOT NULL) AND bool_and(call_id IS NULL) AS is_between FROM counted
    WHERE category = 'layout_transpose' GROUP BY rank, name
) n ON n.rank = c.rank AND n.name = c.name
WHERE c.category = 'layout_transpose' AND c.call_id IS NULL AND c.id NOT IN (SELECT id FROM plain_reorders)
    AND c.id NOT IN (SELECT id FROM filter_conversions)
