-- title = "The devices that a printed table names, in order"
-- doc = "`cells` has the cells of each row, `header` where the columns are."
SELECT cell[h.device] FROM cells, header h WHERE cell[h.device] IS NOT NULL GROUP BY 1 ORDER BY min("row")
