-- title = "Leaves these ranks in the window"
-- doc = "Of many ranks, a graph holds some."
-- [params]
-- ranks = { type = "BIGINT[]", doc = "ranks that stay" }
DELETE FROM critical_window WHERE NOT list_contains($ranks, rank)
