-- title = "Kinds of kernels, copies and primitives"
-- doc = "Each with a number: calls are compared by numbers, since names are long."
SELECT row_number() OVER () AS number, *
FROM (SELECT DISTINCT kind, name, impl, prop_kind, part_op FROM attributed.ran)
