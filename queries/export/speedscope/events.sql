-- title = "speedscope: starts and ends"
-- doc = "By track, in order."
SELECT CAST(tid AS BIGINT) AS tid, '{"type":"' || if(begins = 1, 'O', 'C') || '","frame":'
    || CAST(name_iid - 1 AS VARCHAR) || ',"at":' || CAST(at_ns AS VARCHAR) || '}' AS event
FROM export_ends
