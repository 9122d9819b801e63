-- title = "Perfetto: descriptions of tracks"
-- doc = "Groups and tracks share one range of numbers: those of tracks stay, groups come after them."
-- [columns]
-- uuid = "number of the track"
-- parent = "number of its group"
-- place = "place among its siblings"
SELECT pid + (SELECT max(tid) FROM export_track) AS uuid, CAST(NULL AS BIGINT) AS parent,
    any_value(process_label) AS label, pid AS place
FROM export_track GROUP BY pid
UNION ALL
SELECT tid, pid + (SELECT max(tid) FROM export_track), thread_label, tid
FROM export_track
ORDER BY parent NULLS FIRST, place
