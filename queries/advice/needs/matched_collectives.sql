-- title = "Collectives of several ranks, matched"
-- record = "every rank of one run, in one folder"
-- missing = """no collective could be matched across ranks (one rank, ranks that differ in number of calls, or a
-- missing rank of the group)"""
SELECT EXISTS (FROM rank_waits WHERE is_counted AND is_complete)
