-- title = "Operators that are in linear ones"
-- doc = "Operators in linear ones, each with one of them around it; it may have several."
SELECT id, linear_id FROM attributed.level WHERE linear_id IS NOT NULL
