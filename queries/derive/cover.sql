-- title = "Until when the device and the rank were busy before each kernel and copy"
-- doc = """Busy time is a union of intervals: each row counts from the latest end before it. Without a device among
-- others with one a row is in the time of none."""
WITH work AS (
    SELECT id, device, start_ns, start_ns + dur_ns AS end_ns FROM stage.kernels
    UNION ALL SELECT id, device, start_ns, start_ns + dur_ns AS end_ns FROM stage.memcpys
    WHERE direction IS DISTINCT FROM 'HtoH'
)
SELECT id,
    max(end_ns) OVER (PARTITION BY device ORDER BY start_ns, end_ns DESC, id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS device_until_ns,
    max(end_ns) OVER (ORDER BY start_ns, end_ns DESC, id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS rank_until_ns
FROM work WHERE device IS NOT NULL OR NOT EXISTS (FROM work WHERE device IS NOT NULL)
