-- title = "What stacks are made of"
-- doc = "Operators, each in the one around it, else in the innermost Python frame; and such frames, without addresses."
SELECT id, coalesce(parent_id, frame_id) AS parent_id, coalesce(name, '') AS frame FROM raw.ops
UNION ALL
SELECT id, parent_id, regexp_replace(coalesce(name, ''), ' at 0x[0-9a-f]+', '') FROM raw.ranges
WHERE kind = 'python' AND EXISTS (FROM raw.ops WHERE frame_id IS NOT NULL)
