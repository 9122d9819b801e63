-- title = "Messages between ranks that are not matched"
-- doc = "Sends and receives in a graph of several ranks: what one waits for in another is not in it."
SELECT count(*) AS n FROM critical_task
WHERE match_id IS NULL AND id IN (SELECT id FROM exchanges WHERE what IN ('send', 'recv', 'send_recv'))
