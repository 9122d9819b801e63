-- doc = """Ranks of the job of which the capture has no trace, by the number of ranks that the others recorded: their
-- trace was not given, not chosen or could not be read. Ranks are counted from 1 where none is 0 and the last one has
-- the number of all."""
-- whole_job = true
SELECT r.rank, s.world_size
FROM (SELECT max(world_size) AS world_size, count(*) AS n_ranks,
        CAST(min(rank) > 0 AND max(rank) = max(world_size) AS BIGINT) AS first
    FROM raw.ranks) s, range(s.first, s.first + s.world_size) r(rank)
WHERE s.n_ranks > 1 AND r.rank NOT IN (SELECT rank FROM raw.ranks)
