-- title = "Pageable host memory"
-- doc = "Copies from and to pageable memory go through a staging buffer and block the host. Over the whole recording."
-- cannot = "No copy between host and device whose kind of host memory is recorded."
-- leave_out = ["pinned_bytes_per_s", "pageable_pct", "bytes_pct", "pageable_bytes_per_s"]
-- [columns]
-- direction = "HtoD or DtoH"
-- calls = "copies whose kind of host memory is recorded"
-- pageable = "of them from or to pageable memory"
-- pageable_pct = "of the copies"
-- pageable_bytes = "bytes they moved"
-- bytes_pct = "of the bytes of the copies"
-- pageable_ns = "sum of their durations"
-- time_pct = "of the copies' time"
-- pageable_bytes_per_s = "throughput of those that record a size"
-- pinned_bytes_per_s = "throughput of those from or to pinned memory, for comparison"
-- [headings]
-- pageable_pct = "of copies"
-- bytes_pct = "of bytes"
-- time_pct = "of copy time"
-- pageable_bytes = "pageable size"
-- pageable_ns = "pageable time"
-- pageable_bytes_per_s = "pageable rate"
-- pinned_bytes_per_s = "pinned rate"
WITH host AS (
    SELECT direction, size_bytes, dur_ns, if(direction = 'HtoD', src_kind, dst_kind) AS memory,
        memory = 'pageable' AS is_pageable, memory = 'pinned' AND size_bytes IS NOT NULL AS is_pinned
    FROM memcpys
    WHERE direction IN ('HtoD', 'DtoH') AND memory IN ('pageable', 'pinned', 'managed')
)
SELECT direction, count(*) AS calls, count(*) FILTER (is_pageable) AS pageable,
    100.0 * count(*) FILTER (is_pageable) / count(*) AS pageable_pct,
    CAST(sum(size_bytes) FILTER (is_pageable) AS BIGINT) AS pageable_bytes,
    100.0 * sum(size_bytes) FILTER (is_pageable) / nullif(sum(size_bytes), 0) AS bytes_pct,
    CAST(sum(dur_ns) FILTER (is_pageable) AS BIGINT) AS pageable_ns,
    100.0 * sum(dur_ns) FILTER (is_pageable) / nullif(sum(dur_ns), 0) AS time_pct,
    1e9 * sum(size_bytes) FILTER (is_pageable) / nullif(sum(dur_ns) FILTER (is_pageable AND size_bytes IS NOT NULL),
        0) AS pageable_bytes_per_s,
    1e9 * sum(size_bytes) FILTER (is_pinned) / nullif(sum(dur_ns) FILTER (is_pinned), 0) AS pinned_bytes_per_s
FROM host
GROUP BY direction
ORDER BY direction
