-- title = "Pieces of text that are not an event"
-- doc = "The splitter looks at them again: there may be several in one, or a part of one."
SELECT "row" FROM event WHERE ph IS NULL
