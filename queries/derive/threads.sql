-- title = "Threads, numbered"
-- doc = "A thread is one number for its process and its own number, which may be NULL."
SELECT pid, tid, row_number() OVER (ORDER BY pid, tid) AS thread
FROM (SELECT pid, tid FROM stage.ops UNION SELECT pid, tid FROM stage.ranges UNION SELECT pid, tid FROM stage.api_calls)
