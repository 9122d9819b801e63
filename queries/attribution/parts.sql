-- title = "What each row is as part of its call"
-- doc = "The verdicts on distinct calls, spread over the rows of all calls."
SELECT r.id, r.call_id, v.category, v.algorithm, v.direction, v.role
FROM (
    SELECT call_id, s.number, unnest(ids) AS id, unnest(range(len(ids))) AS position
    FROM attributed.per_call p JOIN attributed.sequence s ON s.op = p.op AND s.items = p.items
) r
JOIN attributed.verdict v USING (number, position)
