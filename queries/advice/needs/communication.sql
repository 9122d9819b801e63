-- title = "Communication"
-- missing = "the trace holds no communication"
SELECT EXISTS (FROM exchanges)
