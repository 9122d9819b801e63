-- title = "Operators of a level that are in linear ones"
SELECT id, linear_id FROM attributed.level WHERE linear_id IS NOT NULL
