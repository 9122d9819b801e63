-- doc = "Conditions under which the run was recorded, as the report environment has them."
-- [columns]
-- position = "place in the list"
-- condition = "what it is"
-- value = "its value; NULL where it is not recorded"
SELECT CAST(position AS BIGINT) AS position, condition, value FROM environment ORDER BY position
