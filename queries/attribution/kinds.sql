-- title = "The items of which calls consist"
-- doc = "Those of the sequences that occur; an item that is in none is not looked at."
SELECT * FROM attributed.item WHERE number IN (SELECT unnest(items) FROM attributed.sequence)
