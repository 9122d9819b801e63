-- doc = """Ranks one of whose GPUs runs kernels of other ranks, too, for more than a twentieth of the time of its own
-- (MPS, time slicing): where the rank lets it idle, it may be busy. Known where a profiler records what identifies a
-- GPU."""
-- in_memory = true
-- whole_job = true
-- [columns]
-- told = "which others, in words"
WITH used AS (
    SELECT k.rank, d.uuid, sum(k.dur_ns) AS kernel_ns, min(k.start_ns) AS first_ns,
        max(k.start_ns + k.dur_ns) AS last_ns
    FROM raw.kernels k JOIN raw.devices d ON d.rank = k.rank AND d.device = k.device
    WHERE d.uuid IN (SELECT uuid FROM raw.devices GROUP BY uuid HAVING count(DISTINCT rank) > 1) GROUP BY ALL
)
SELECT u.rank, format('rank{} {} work{} on the same GPU', if(count(DISTINCT o.rank) = 1, '', 's'),
    array_to_string(list_sort(list(DISTINCT o.rank)), ', '), if(count(DISTINCT o.rank) = 1, 's', '')) AS told
FROM used u JOIN used o ON o.uuid = u.uuid AND o.rank <> u.rank
WHERE o.kernel_ns > 0.05 * u.kernel_ns AND o.first_ns < u.last_ns AND u.first_ns < o.last_ns
GROUP BY u.rank
