-- title = "Trace events: texts to columns"
-- doc = "One row per event of Chrome's format. Times are microseconds and come as text: a double would lose digits."
SELECT * REPLACE (
    -- Beyond a hundred years from 1970 or a span of thirty, sums of times would leave 64 bits.
    CASE WHEN start_ns BETWEEN -4000000000000000000 AND 4000000000000000000 THEN start_ns END AS start_ns,
    CASE WHEN dur_ns BETWEEN -1000000000000000000 AND 1000000000000000000 THEN dur_ns END AS dur_ns)
FROM (
    SELECT
        "row",
        $ids * ($first + "row") AS id,
        e.ph AS ph,
        e.cat AS cat,
        e.name AS name,
        coalesce(TRY_CAST(e.pid AS BIGINT), TRY_CAST(regexp_extract(e.pid, '\d+') AS BIGINT), hash(e.pid) >> 33) AS pid,
        coalesce(TRY_CAST(e.tid AS BIGINT), TRY_CAST(regexp_extract(e.tid, '\d+') AS BIGINT), hash(e.tid) >> 33) AS tid,
        CASE
            WHEN TRY_CAST(e.ts AS BIGINT) BETWEEN -4000000000000000 AND 4000000000000000
                AND regexp_full_match(e.ts, '-?\d+')
                THEN TRY_CAST(e.ts AS BIGINT) * 1000
            ELSE TRY_CAST(round(TRY_CAST(e.ts AS DECIMAL(28, 6)) * 1000) AS BIGINT)
        END AS start_ns,
        CASE
            WHEN TRY_CAST(e.dur AS BIGINT) BETWEEN 0 AND 9000000000000 AND regexp_full_match(e.dur, '\d+')
                THEN TRY_CAST(e.dur AS BIGINT) * 1000
            ELSE TRY_CAST(round(TRY_CAST(e.dur AS DECIMAL(28, 6)) * 1000) AS BIGINT)
        END AS dur_ns,
        e.id AS flow,
        -- Text that is not JSON may not be text at all; the splitter settles it.
        CASE WHEN e.ph IS NOT NULL THEN e.args END AS args,
        -- A number goes through a double, which holds no three decimals of microseconds from 2^43 on.
        contains(e.ts, '.') AND length(e.ts) > 14 AND TRY_CAST(e.ts AS DOUBLE) >= 8796093022208 AS is_spelled_otherwise
    FROM (
        SELECT "row", line, TRY(from_json(line, '{
            "ph": "VARCHAR", "cat": "VARCHAR", "name": "VARCHAR", "pid": "VARCHAR", "tid": "VARCHAR",
            "ts": "VARCHAR", "dur": "VARCHAR", "id": "VARCHAR", "args": "JSON"}')) AS e
        FROM lines
    )
)
