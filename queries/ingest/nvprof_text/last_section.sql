-- title = "The section that the last rows of a summary are in"
-- doc = "It goes on in the rows that follow."
SELECT arg_max(rtrim(cell[h.section], ':'), "row") FROM cells, header h WHERE cell[h.section] IS NOT NULL
