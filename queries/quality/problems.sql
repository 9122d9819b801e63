-- title = "Problems"
-- doc = "Damage in the input, and rows that could not be linked, with up to ten examples each."
-- cannot = """No problems: every event was read, every kernel has its launch and its operator, nothing overlaps on a
-- stream, no clock jumps."""
-- leave_out = ["source"]
-- [columns]
-- rank = "process of the job"
-- source = "file; empty if it concerns the whole rank"
-- trouble = "what was wrong"
-- n = "how often"
-- examples = "up to ten"
SELECT rank, source, kind AS trouble, n, array_to_string(examples, '; ') AS examples
FROM quality
ORDER BY rank, n DESC, kind, source
