-- title = "A row if any operator of a backward pass was recorded"
-- doc = "Autograd runs it for another thread or operator."
SELECT 1 AS found FROM stage.ops WHERE forward_thread IS NOT NULL LIMIT 1
