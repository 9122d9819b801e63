-- title = "Names and labels of processes"
-- doc = "Writers of Chrome traces put the command line there, and with it secrets."
-- [params]
-- most = { type = "BIGINT", doc = "how many to look at" }
SELECT DISTINCT args FROM stage.events
WHERE phase = 'M' AND name IN ('process_name', 'process_labels') ORDER BY args LIMIT $most
