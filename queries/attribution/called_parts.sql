-- title = "attribution: kernels of calls without an operator, with their call"
-- doc = "The parts with the call of those that have no operator, and the pass that the call tells."
SELECT p.* REPLACE (if(l.id IS NULL, p.call_id, l.call_id) AS call_id, coalesce(l.direction, p.direction) AS direction)
FROM attributed.part p LEFT JOIN attributed.loose l ON l.id = p.id
