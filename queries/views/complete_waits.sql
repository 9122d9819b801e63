-- doc = """The calls of rank_waits in steps that count and in which no collective of the group lacks a rank: those of
-- which a number per step can be said."""
-- [columns]
-- per = "such steps of the rank and the group, or 1 without steps"
SELECT * EXCLUDE (n_partial, is_partial) REPLACE (greatest(per - n_partial, 1) AS per)
FROM (
    SELECT *, count(DISTINCT if(is_complete, NULL, step)) OVER (PARTITION BY rank, team) AS n_partial,
        step IS NOT NULL AND NOT bool_and(is_complete) OVER (PARTITION BY rank, team, step) AS is_partial
    FROM rank_waits WHERE is_counted
)
WHERE is_complete AND NOT is_partial
