-- title = "Pieces of text that are not an object"
-- doc = "The splitter looks at them again: there may be several in one, or a part of one."
SELECT "row" FROM record WHERE line IS NULL
