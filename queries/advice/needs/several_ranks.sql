-- title = "Collectives of several ranks"
-- record = "every rank of one run, in one folder"
-- missing = "the capture has one rank, or no collectives"
SELECT (SELECT count(*) FROM raw.ranks) > 1 AND EXISTS (FROM matched_calls WHERE is_together)
