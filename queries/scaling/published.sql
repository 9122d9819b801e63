-- title = "Published"
-- doc = "Speed-ups on several GPUs that others published; machines, libraries and years differ."
-- cannot = "No published speed-ups in this capture."
-- [headings]
-- speedup = "times as fast"
-- efficiency_pct = "efficiency of ideal"
-- [columns]
-- name = "what was trained"
-- scaling = "weak, strong; empty where the source does not say"
-- batch = "of a rank, where told"
-- ranks = "GPUs"
-- samples_per_s = "as published"
-- speedup = "over one GPU"
-- efficiency_pct = "of as many times as fast as there are GPUs"
-- source = "the publication"
SELECT name, mode AS scaling, batch, ranks, samples_per_s, round(speedup, 2) AS speedup,
    100 * speedup * base_ranks / ranks AS efficiency_pct, source
FROM raw.scaling_points WHERE status = 'published' AND ranks > base_ranks
ORDER BY source, name, ranks, samples_per_s, speedup
