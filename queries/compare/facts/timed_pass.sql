-- doc = """Fastest implementation, for each problem, of every algorithm that a study measured or that was published, by
-- the times that the study itself compares."""
-- [columns]
-- shape = "channels x height x width, filters, filter size, stride, padding, dilation, groups"
-- batch = "images"
-- direction = "fprop, dgrad, wgrad or backward"
-- algorithm = "see docs/vocabulary.md; the library in brackets where it is not known"
-- setting = "device, threads and type"
-- implementation = "library and implementation"
-- time_ns = "wall time; processor time where there is no other, or other programs ran beside one thread that computed"
-- is_wide = "whether too few runs differ too much to rank it"
-- others_pct = "share of the cores that other programs took meanwhile"
WITH timed AS (
    SELECT shape, batch, direction, coalesce(algorithm, '(unknown: ' || backend || ')') AS algorithm,
        -- Not that of the view, which names publications: no two studies have the same.
        concat_ws(', ', device, threads || if(threads = 1, ' thread', ' threads'), nullif(dtype, 'float32')) AS setting,
        concat_ws(' ', backend, implementation) AS implementation, CAST(time_ns AS BIGINT) AS time_ns, is_wide,
        others_pct
    FROM algorithm_times WHERE is_timed
)
SELECT shape, batch, direction, algorithm, setting,
    min_by(implementation, (is_wide, time_ns, implementation)) AS implementation,
    min_by(time_ns, (is_wide, time_ns)) AS time_ns, bool_and(is_wide) AS is_wide,
    min_by(others_pct, (is_wide, time_ns, implementation)) AS others_pct
FROM timed GROUP BY shape, batch, direction, algorithm, setting
ORDER BY ALL
