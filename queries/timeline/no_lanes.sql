-- title = "Slices that need a further track"
-- doc = "None at first."
-- [columns]
-- number = "number of the slice"
-- lane = "which further track of its thread or stream, from 1"
SELECT CAST(NULL AS BIGINT) AS number, CAST(NULL AS BIGINT) AS lane WHERE false
