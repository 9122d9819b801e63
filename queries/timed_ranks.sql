-- title = "Ranks with a time"
-- doc = "Counted over the rows of the view scope that the shards of a large job have."
SELECT count(*) AS n_ranks FROM read_parquet(getvariable('stored').scope) WHERE total_ns > 0
