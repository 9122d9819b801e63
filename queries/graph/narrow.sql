-- title = "Leaves these ranks in the window"
-- doc = "A graph holds some of many ranks."
-- [params]
-- ranks = { type = "BIGINT[]", doc = "ranks that stay" }
DELETE FROM critical_window WHERE NOT list_contains($ranks, rank)
