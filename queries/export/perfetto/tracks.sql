-- title = "Perfetto: descriptions of tracks"
-- doc = "Groups and tracks share one range of numbers: those of tracks stay, groups come after them."
-- [columns]
-- uuid = "number of the track"
-- parent = "number of its group"
-- place = "place among its siblings"
-- unit = "of a counter; empty for a track of slices"
SELECT pid + (SELECT max(tid) FROM export_track) AS uuid, CAST(NULL AS BIGINT) AS parent,
    any_value(process_label) AS label, pid AS place, CAST(NULL AS INTEGER) AS unit
FROM export_track GROUP BY pid
UNION ALL
SELECT tid, pid + (SELECT max(tid) FROM export_track), thread_label, tid, NULL
FROM export_track
UNION ALL
SELECT uuid, parent, label, place, unit FROM export_counter
ORDER BY parent NULLS FIRST, place
