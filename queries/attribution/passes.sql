-- title = "Convolution calls and those that they are the gradients of"
-- doc = "Pairs in which the profiler linked operators of one to operators of the other."
SELECT DISTINCT b.call_id, f.call_id AS forward_call
FROM attributed.op b JOIN attributed.op f ON f.id = b.forward_id
WHERE b.forward_id IS NOT NULL AND b.call_id <> f.call_id
