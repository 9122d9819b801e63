-- doc = """Ranks with counted communication of which a member has no trace: how much of it is waiting is not known."""
-- whole_job = true
-- [columns]
-- told = "whose traces are missing, in words"
SELECT DISTINCT c.rank, m.told
FROM matched_calls c CROSS JOIN (SELECT any_value(told) AS told FROM missing_ranks HAVING count(*) > 0) m
WHERE c.is_counted AND c.is_complete IS NOT TRUE
