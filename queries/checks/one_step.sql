-- doc = "Kernels that are in more than one step."
-- [columns]
-- n = "steps of its rank with the number that it names"
SELECT k.rank, k.id, k.name, k.step, count(*) AS n
FROM kernels k JOIN steps s ON s.rank = k.rank AND s.step = k.step
GROUP BY k.rank, k.id, k.name, k.step
HAVING count(*) > 1
ORDER BY k.rank, k.id
