-- doc = "A row for each process of the job."
-- materialize = true
SELECT * FROM raw.ranks
