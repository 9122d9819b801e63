-- title = "Sizes of collectives"
-- record = "a run of several ranks with its collectives"
-- missing = "the sizes of collectives are not recorded"
SELECT EXISTS (FROM exchanges WHERE size_bytes IS NOT NULL)
