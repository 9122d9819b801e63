-- doc = """Pauses of at least 0.1 ms in which Python's garbage collector ran while steps were recorded, as
-- `traceview collect` noted them."""
-- [columns]
-- generation = "2 looks at all objects, 0 and 1 at young ones"
-- step = "step that counts in which it began; NULL outside"
WITH noted AS (
    SELECT DISTINCT ON (r.value) TRY_CAST(r.value->>'$.rank' AS INTEGER) AS rank, r.value->'$.garbage' AS pauses
    FROM raw.captures c, json_each(c.options, '$.ranks') r WHERE json_type(r.value, '$.garbage') = 'ARRAY'
), origin AS (
    SELECT rank, min(origin_unix_ns) AS origin_ns FROM raw.captures GROUP BY rank
), pause AS (
    -- Numbers that are not times are left out: a thousand of them has to fit.
    SELECT n.rank, TRY_CAST(p.value->>0 AS INTEGER) AS generation,
        if(TRY_CAST(p.value->>1 AS BIGINT) BETWEEN 0 AND 4e15, TRY_CAST(p.value->>1 AS BIGINT), NULL) * 1000
            - o.origin_ns AS start_ns,
        TRY_CAST(p.value->>2 AS BIGINT) AS dur_ns
    FROM noted n JOIN origin o ON o.rank = n.rank, json_each(n.pauses) p WHERE json_type(p.value) = 'ARRAY'
)
SELECT p.*, if(p.start_ns < w.end_ns, w.step, NULL) AS step
FROM pause p ASOF LEFT JOIN counted_windows w ON w.rank = p.rank AND p.start_ns >= w.start_ns
WHERE p.start_ns IS NOT NULL AND p.dur_ns >= 0 AND p.dur_ns < 1e12
