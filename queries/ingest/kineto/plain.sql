-- title = "Kineto: texts of events of one kind to columns"
-- doc = """Columns as of the query `parse`, for events that are all alike: of some phases and categories, with a time
-- and a sane duration that a number holds exactly (between `least` and `most`; microseconds, or nanoseconds where
-- `in_ns`), with a process and a thread where the table has these. All go to the table `goes_to`. Any other event is
-- left out, and text that is not JSON is an error: then the whole part of the file is read by `parse`."""
WITH text AS MATERIALIZED (
    SELECT
        list_contains($phases, e.ph)
            AND ($categories IS NULL OR list_contains($categories, e.cat))
            AND ($name IS NULL OR e.name = $name)
            AND NOT (e.cat = 'cpu_op' AND starts_with(e.name, 'ProfilerStep#'))
            AND e.ts > $least AND e.ts < $most
            AND (e.ph <> 'X' OR (e.dur >= 0 AND e.dur <= 604800000000))
            AND (NOT $on_thread OR (e.pid IS NOT NULL AND e.tid IS NOT NULL)) AS is_plain,
        $ids * ($first + "row") AS id, e.ph AS ph, e.cat AS cat, e.name AS name, e.pid AS pid, e.tid AS tid,
        CASE WHEN $in_ns THEN CAST(e.ts AS BIGINT)
            ELSE 1000 * CAST(floor(e.ts) AS BIGINT) + CAST(round(1000 * (e.ts - floor(e.ts))) AS BIGINT)
        END AS start_ns,
        CAST(round(1000 * e.dur) AS BIGINT) AS dur_ns,
        e.id AS flow, e.args AS args, $goes_to AS goes_to,
        CASE WHEN $name IS NOT NULL THEN line END AS line
    FROM (SELECT "row", line, from_json(line, $schema) AS e FROM lines
        WHERE $holding IS NULL OR len([text for text in $holding if contains(line, text)]) > 0)
)
SELECT * FROM text WHERE is_plain
