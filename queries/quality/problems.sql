-- title = "Troubles"
-- doc = "Damage in the input, and rows that could not be linked; up to ten examples each."
-- cannot = """Nothing was wrong: every event was read, no kernel lacks its launch or its operator, nothing overlaps on
-- a stream, no clock jumps."""
-- [columns]
-- rank = "process of the job"
-- source = "file; none for what concerns the whole rank"
-- trouble = "what was wrong"
-- n = "how often"
-- examples = "up to ten"
SELECT rank, source, kind AS trouble, n, array_to_string(examples, '; ') AS examples
FROM quality
ORDER BY rank, n DESC, kind, source
