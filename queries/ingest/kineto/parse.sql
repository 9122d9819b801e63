-- title = "Kineto: event texts to columns"
-- doc = """One row per event with what every table needs; `schema` names the keys and the arguments that tables want.
-- Times come as text: a double would lose digits. An event takes four ids: it may fill rows of several tables.
-- Each goes to one table, `goes_to`, from which other tables may take more; to none only where it has no readable time.
-- `tables` has those of the known categories."""
WITH parsed AS (
    SELECT
        "row",
        $ids * ($first + "row") AS id,
        e.ph AS ph,
        lower(e.cat) AS cat,
        e.name AS name,
        coalesce(TRY_CAST(e.pid AS BIGINT), TRY_CAST(regexp_extract(e.pid, '\d+') AS BIGINT), hash(e.pid) >> 33) AS pid,
        coalesce(TRY_CAST(e.tid AS BIGINT), TRY_CAST(regexp_extract(e.tid, '\d+') AS BIGINT), hash(e.tid) >> 33) AS tid,
        CASE
            WHEN TRY_CAST(e.ts AS BIGINT) BETWEEN -4000000000000000 AND 4000000000000000 AND NOT contains(e.ts, '.')
                THEN TRY_CAST(e.ts AS BIGINT) * 1000
            ELSE TRY_CAST(round(TRY_CAST(e.ts AS DECIMAL(28, 6)) * 1000) AS BIGINT)
        END AS start_ns,
        CASE
            WHEN TRY_CAST(e.dur AS BIGINT) BETWEEN 0 AND 9000000000000 AND NOT contains(e.dur, '.')
                THEN TRY_CAST(e.dur AS BIGINT) * 1000
            ELSE TRY_CAST(round(TRY_CAST(e.dur AS DECIMAL(28, 6)) * 1000) AS BIGINT)
        END AS dur_ns,
        e.id AS flow,
        -- Text that is not JSON may not be text at all; the splitter settles it.
        CASE WHEN e.ph IS NOT NULL THEN line END AS line,
        e.args AS args,
        -- A number goes through a double, which holds no three decimals of microseconds from 2^43 on.
        coalesce(list_contains($old_spellings, e.cat), false)
            OR (contains(e.ts, '.') AND length(e.ts) > 14 AND TRY_CAST(e.ts AS DOUBLE) >= 8796093022208)
            AS is_spelled_otherwise
    FROM (
        SELECT "row", line, TRY(from_json(line, $schema)) AS e FROM lines
    )
), timed AS (
    SELECT * REPLACE (
        -- Beyond a hundred years from 1970 or a span of thirty, sums of times would leave 64 bits.
        CASE WHEN start_ns BETWEEN -4000000000000000000 AND 4000000000000000000 THEN start_ns END AS start_ns,
        CASE WHEN dur_ns BETWEEN -1000000000000000000 AND 1000000000000000000 THEN dur_ns END AS dur_ns)
    FROM parsed
)
SELECT *,
    CASE
        WHEN ph = 'M' THEN 'events'
        WHEN ph IS NULL OR start_ns IS NULL OR (ph = 'X' AND dur_ns IS NULL) THEN NULL
        -- PyTorch 1 wrote annotations as operators; the profiler of Ascend's torch_npu still does.
        WHEN ph IN ('X', 'B') AND (cat = 'operator' AND contains(name, '#')
            OR cat = 'cpu_op' AND starts_with(name, 'ProfilerStep#')) THEN 'ranges'
        -- An MTIA device writes what it waits for and what it copies among what it runs.
        WHEN cat = 'mtia_ccp_events' AND name IN ('event_wait', 'event_record') THEN 'events'
        WHEN cat = 'mtia_ccp_events' AND name = 'dma_request' THEN 'memcpys'
        WHEN ph IN ('X', 'B') THEN coalesce($tables[cat], 'events')
        WHEN ph IN ('s', 'f') THEN 'links'
        WHEN name = '[memory]' AND coalesce(args."Total Allocated", args."Total Reserved") IS NOT NULL THEN 'counters'
        ELSE 'events'
    END AS goes_to
FROM timed
