-- title = "Kernels in the order in which the busiest stream ran them"
-- doc = """Kernels, numbered by name and grid; when each was launched, where that was recorded, and the time in which
-- the stream had nothing to do before it. `is_backward`: the name is of a backward pass or of an update."""
WITH stream AS (
    SELECT device, stream FROM stage.kernels GROUP BY device, stream ORDER BY count(*) DESC, device, stream LIMIT 1
)
SELECT dense_rank() OVER (ORDER BY k.name, k.grid_x, k.grid_y, k.grid_z) AS kind,
    coalesce(l.start_ns, k.start_ns) AS start_ns, k.start_ns + k.dur_ns AS end_ns,
    greatest(k.start_ns - coalesce(max(k.start_ns + k.dur_ns) OVER (ORDER BY k.start_ns, k.id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), k.start_ns), 0) AS gap_ns,
    CAST(regexp_matches(k.name, '(?i)backward|bwd|[wdb]grad|gradient|multi_tensor|adam|sgd|ApplyMomentum') AS BIGINT)
        AS is_backward
FROM stage.kernels k JOIN stream s ON s.device IS NOT DISTINCT FROM k.device AND s.stream IS NOT DISTINCT FROM k.stream
LEFT JOIN launch l USING (correlation)
ORDER BY k.start_ns, k.id
