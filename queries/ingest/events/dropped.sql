-- title = "Pieces of text that were found to be something else are taken out"
-- doc = "`dropped` has their numbers; what they really hold is read in their place."
DELETE FROM event WHERE "row" IN (SELECT "row" FROM dropped)
