-- title = "oneDNN: one executed primitive per line"
-- doc = """Fields are found from the word exec on, because versions put a version, a time stamp and the engine before
-- or after it. MKL-DNN 0.x names no engine and no attributes, its first releases no implementation."""
-- [params]
-- first = { type = "BIGINT", doc = "id of the first line" }
-- zero = { type = "BIGINT", doc = "zero of the capture's clock, in nanoseconds since 1970" }
-- library = { type = "VARCHAR", doc = "library and version" }
-- elapsed = { type = "BIGINT", doc = "where primitives without a time stamp begin" }
WITH split AS (
    SELECT "row", line, string_split(line, ',') AS part FROM lines
), placed AS (
    SELECT *, list_position(part, 'exec') AS place FROM split
), engines AS (
    SELECT *, regexp_matches(part[place + 1], '^[cg]pu:?\d*$') AS has_engine FROM placed WHERE place IS NOT NULL
), named AS (
    SELECT "row", line, has_engine, part[place + CASE WHEN has_engine THEN 2 ELSE 1 END:] AS field FROM engines
), fields AS (
    SELECT * REPLACE (CASE WHEN regexp_matches(field[2], '^(undef|forward.*|backward.*)$')
        THEN list_concat([field[1], NULL], field[2:]) ELSE field END AS field)
    FROM named
), pointed AS (
    -- Where a program set a locale with decimal commas, a time is two fields, and so is a stamp.
    SELECT * REPLACE (CASE WHEN len(field) = if(has_engine, 9, 8) AND regexp_matches(field[-2], '^\d+$')
            AND regexp_matches(field[-1], '^\d+(e[-+]?\d+)?\s*$')
        THEN list_append(field[:-3], field[-2] || '.' || field[-1]) ELSE field END AS field)
    FROM fields
), timed AS (
    SELECT *,
        -- Another thread may have written behind the time.
        TRY_CAST(round(TRY_CAST(regexp_extract(field[-1], '^\s*([\d.]+(?:e[-+]?\d+)?)(?:\s|$)', 1) AS DECIMAL(24, 9))
            * 1000000) AS BIGINT) AS dur_ns,
        -- The stamp is the start in epoch milliseconds; a smaller number counts from the start of the machine.
        TRY_CAST(round(TRY_CAST(replace(regexp_extract(line,
            '_verbose,(?:v\d+,)?(\d+(?:[.,]\d+)?),(?:primitive,)?exec,', 1), ',', '.') AS DECIMAL(24, 9))
            * 1000000) AS BIGINT) AS stamp_ns
    FROM pointed
)
SELECT
    $first + "row" AS id,
    CASE WHEN stamp_ns > 10 ** 17 AND stamp_ns < 4 * 10 ** 18 THEN stamp_ns - $zero
        ELSE $elapsed + coalesce(sum(dur_ns) OVER (ORDER BY "row" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)
    END AS start_ns,
    dur_ns,
    $library AS library,
    field[1] AS kind, field[2] AS impl, field[3] AS prop_kind, field[4] AS formats,
    CASE WHEN has_engine AND len(field) >= 8 THEN nullif(field[5], '') END AS attributes,
    nullif(regexp_replace(list_filter(field[5:-3], lambda x: starts_with(x, 'alg:'))[1], '^alg:', ''),
        '') AS algorithm_recorded,
    nullif(field[-2], '') AS shape
FROM timed
WHERE dur_ns >= 0
    -- Eleven days: what is longer is not a time of a primitive, and sums of it would leave 64 bits.
    AND dur_ns < 10 ** 15
    -- Primitive, implementation, propagation, formats, attributes, algorithm, problem, time: a line that is cut has
    -- fewer.
    AND (len(field) >= 8 OR (len(field) = 7 AND (NOT has_engine OR regexp_matches(field[5], '^(alg|num):'))))
