-- record = "a run of several ranks with its collectives"
-- missing = "the trace holds no communication"
SELECT EXISTS (FROM exchanges)
