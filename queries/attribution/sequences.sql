-- title = "attribution: distinct calls"
-- doc = "What ran under operators, each sequence once with a number: equal calls are judged once."
SELECT op, items, row_number() OVER () AS number FROM (SELECT DISTINCT op, items FROM attributed.per_call)
