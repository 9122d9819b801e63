-- title = "Operators by thread, in order of time, with the number of their name"
-- doc = "`op_word` holds the names. Those that autograd records are forward ones, or gradients with create_graph."
SELECT o.id, t.thread, o.start_ns, o.start_ns + o.dur_ns AS end_ns, w.number,
    CAST(o.sequence >= 0 AND o.forward_thread IS NULL AS BIGINT) AS is_recorded
FROM stage.ops o
JOIN op_word w ON o.name IS NOT DISTINCT FROM w.name
JOIN thread t ON o.pid IS NOT DISTINCT FROM t.pid AND o.tid IS NOT DISTINCT FROM t.tid
ORDER BY t.thread, o.start_ns, end_ns DESC, o.id
