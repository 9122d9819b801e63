-- title = "The slices of an export, numbered"
-- doc = "As they are stored; texts as their numbers."
-- [columns]
-- number = "from 1, by track, start, longest first"
SELECT rowid + 1 AS number, * FROM export_row
