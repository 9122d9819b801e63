-- doc = """Ranks of the job of which the capture has no trace, by the number of ranks that the others recorded: their
-- trace was not given, not chosen or could not be read. Ranks are counted from 1 where none is 0 and the last one has
-- the number of all."""
-- whole_job = true
-- [columns]
-- told = "that they are missing, in words: the same in every row"
WITH lacking AS (
    SELECT r.rank, s.world_size
    FROM (SELECT max(world_size) AS world_size, count(*) AS n_ranks,
            CAST(min(rank) > 0 AND max(rank) = max(world_size) AS BIGINT) AS first
        FROM raw.ranks) s, range(s.first, s.first + s.world_size) r(rank)
    WHERE s.n_ranks > 1 AND r.rank NOT IN (SELECT rank FROM raw.ranks)
), named AS (
    SELECT count(*) > 1 AS is_more, format('{} {}{}', if(count(*) > 1, 'ranks', 'rank'),
        array_to_string(list(rank ORDER BY rank)[:8], ', '),
        if(count(*) > 8, format(' and {} more', count(*) - 8), '')) AS names
    FROM lacking
)
SELECT l.rank, l.world_size, CASE WHEN getvariable('chosen') IS NOT NULL
        THEN n.names || if(n.is_more, ' are not looked at', ' is not looked at')
    WHEN n.is_more THEN format('the traces of {} are missing', n.names)
    ELSE format('the trace of {} is missing', n.names) END AS told
FROM lacking l CROSS JOIN named n
