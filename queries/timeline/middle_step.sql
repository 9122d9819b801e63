-- title = "The step that stands for all"
-- doc = """Counted step whose length and busy time are closest to the medians, of those that the most ranks have; none
-- without steps."""
-- [columns]
-- step = "its number"
SELECT step FROM step_distances
ORDER BY n_ranks DESC, round(distance, 4), from_middle, step
LIMIT 1
