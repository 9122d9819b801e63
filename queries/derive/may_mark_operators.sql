-- title = "Whether operators may be marked by ranges"
-- doc = "A row where no operator was recorded and some NVTX range was; to plan `ops_from_ranges` takes 20 ms."
SELECT 1 FROM stage.ranges WHERE kind = 'nvtx' AND NOT EXISTS (FROM stage.ops) LIMIT 1
