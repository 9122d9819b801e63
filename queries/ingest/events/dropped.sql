-- title = "Remove fragments that were re-parsed"
-- doc = "`dropped` has their numbers; what they really hold is read in their place."
DELETE FROM event WHERE "row" IN (SELECT "row" FROM dropped)
