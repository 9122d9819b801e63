-- title = "Runtime and driver calls with the number of their thread"
-- doc = "For looking up what was running on that thread when a call began."
SELECT c.id, t.thread, c.start_ns
FROM stage.api_calls c JOIN thread t ON c.pid IS NOT DISTINCT FROM t.pid AND c.tid IS NOT DISTINCT FROM t.tid
