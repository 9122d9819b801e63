-- title = "XPlane: everything else"
-- doc = "Events that say how often and not when, and those of a plane whose names were cut off."
SELECT
    id, start_ns, dur_ns, pid, line_id AS tid, plane || ' ' || line_name AS category,
    CASE WHEN times > 0 THEN 'aggregate' ELSE 'span' END AS phase, name,
    CASE WHEN times > 0 THEN '{"occurrences": ' || times || '}' END AS args
FROM placed WHERE goes = 'events'
