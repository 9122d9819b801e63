-- doc = """Busy time of a device per step, mean of the devices of a rank: what shares of device time are of. Work that
-- runs in the steps and was launched outside of them is part of it."""
SELECT t.rank, sum(t.alone_ns / t.per) / greatest(any_value(c.n_devices), 1) AS busy_ns
FROM totals t JOIN scope c ON c.rank = t.rank WHERE t.is_counted OR t.is_carried GROUP BY t.rank
