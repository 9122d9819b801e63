-- title = "oneDNN: one executed primitive per line"
-- doc = "Fields are found from the word exec on, because versions put a version, a time stamp and the engine before or after it."
WITH split AS (
    SELECT "row", string_split(line, ',') AS part FROM lines
), placed AS (
    SELECT *, list_position(part, 'exec') AS place FROM split
), fields AS (
    SELECT "row", part, place,
        -- MKL-DNN 0.x names no engine after exec.
        part[place + CASE WHEN part[place + 1] IN ('cpu', 'gpu') THEN 2 ELSE 1 END:] AS field
    FROM placed WHERE place IS NOT NULL
), timed AS (
    SELECT *,
        TRY_CAST(round(TRY_CAST(field[-1] AS DECIMAL(38, 9)) * 1000000) AS BIGINT) AS dur_ns,
        -- The stamp is the start in epoch milliseconds.
        TRY_CAST(round(coalesce(TRY_CAST(part[place - 1] AS DECIMAL(38, 9)), TRY_CAST(part[place - 2] AS DECIMAL(38, 9)))
            * 1000000) AS BIGINT) AS stamp_ns
    FROM fields
)
SELECT
    $first + "row" AS id,
    CASE WHEN stamp_ns IS NOT NULL THEN stamp_ns - $zero
        ELSE $elapsed + coalesce(sum(dur_ns) OVER (ORDER BY "row" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)
    END AS start_ns,
    greatest(dur_ns, 0) AS dur_ns,
    $library AS library,
    field[1] AS kind, field[2] AS impl, field[3] AS prop_kind, field[4] AS formats,
    nullif(list_filter(field[5:-2], lambda x: starts_with(x, 'attr'))[1], '') AS attributes,
    nullif(regexp_replace(list_filter(field[5:-2], lambda x: starts_with(x, 'alg:'))[1], '^alg:', ''), '') AS algorithm_recorded,
    nullif(field[-2], '') AS shape
FROM timed
WHERE dur_ns IS NOT NULL AND len(field) >= 6
