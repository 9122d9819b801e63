-- doc = "Fastest implementation, for each problem, of every algorithm that a study measured or that was published."
-- [columns]
-- shape = "channels x height x width, filters, filter size, stride, padding, dilation, groups"
-- batch = "images"
-- direction = "fprop, dgrad, wgrad or backward"
-- algorithm = "see docs/vocabulary.md; the library in brackets where it is not known"
-- setting = "device, threads and type"
-- implementation = "library and implementation"
-- time_ns = "its time"
-- others_pct = "share of the cores that other programs took meanwhile"
WITH timed AS (
    SELECT concat(in_channels, 'x', height, 'x', width, ' k', out_channels, ' ', filter_height, 'x', filter_width, ' s',
            stride_h, 'x', stride_w, ' p', pad_h, 'x', pad_w, if(dilation_h * dilation_w > 1,
            format(' d{}x{}', dilation_h, dilation_w), ''), if(groups > 1, ' g' || groups, '')) AS shape,
        batch, direction, coalesce(algorithm, '(unknown: ' || backend || ')') AS algorithm,
        concat_ws(', ', device, threads || if(threads = 1, ' thread', ' threads'), nullif(dtype, 'float32')) AS setting,
        concat_ws(' ', backend, implementation) AS implementation,
        CAST(coalesce(wall_ns, cpu_ns) AS BIGINT) AS time_ns, others_pct
    FROM timed_shapes WHERE status IN ('measured', 'published') AND coalesce(wall_ns, cpu_ns) > 0
)
SELECT shape, batch, direction, algorithm, setting, min_by(implementation, (time_ns, implementation)) AS implementation,
    min(time_ns) AS time_ns, min_by(others_pct, (time_ns, implementation)) AS others_pct
FROM timed GROUP BY shape, batch, direction, algorithm, setting
ORDER BY ALL
