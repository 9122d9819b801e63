-- title = "Collectives of several ranks, matched"
-- record = "every rank of one run, in one folder"
-- missing = "no collective could be matched across ranks (one rank, or ranks that differ in number of calls)"
SELECT EXISTS (FROM rank_waits WHERE is_counted)
