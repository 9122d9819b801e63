-- title = "XPlane: which tables events go to"
-- doc = """One row per table, and whether all times are such that nobody has to look at these rows again
-- (`Sink.settle_times`)."""
-- [params]
-- latest = { type = "BIGINT", doc = "the latest start that can be true [ns]" }
-- longest = { type = "BIGINT", doc = "the longest duration that is not remarked on [ns]" }
SELECT goes, bool_and(start_ns BETWEEN -$latest AND $latest AND dur_ns BETWEEN 0 AND $longest) AS is_settled
FROM placed GROUP BY goes ORDER BY goes
