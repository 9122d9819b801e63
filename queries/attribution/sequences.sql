-- title = "attribution: distinct calls"
-- doc = "Distinct sequences of work under operators, numbered: equal calls are judged once."
SELECT op, items, row_number() OVER () AS number FROM (SELECT DISTINCT op, items FROM attributed.per_call)
