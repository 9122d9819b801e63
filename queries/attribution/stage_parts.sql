-- title = "attribution: parts of stages"
-- doc = "The kernels of the stages with the verdict on their place in them."
SELECT r.id, v.category, v.algorithm, v.direction, v.role
FROM (SELECT names, unnest(ids) AS id, unnest(range(len(ids))) AS position FROM attributed.stage) r
JOIN attributed.stage_verdict v USING (names, position)
