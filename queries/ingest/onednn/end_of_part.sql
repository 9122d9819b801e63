-- title = "When the last of the primitives ends that were read since one of them"
-- doc = "Lines without a time stamp follow one another."
-- [params]
-- first = { type = "BIGINT", doc = "the id of that one" }
SELECT max(start_ns + dur_ns) FROM stage.primitives WHERE id >= $first
