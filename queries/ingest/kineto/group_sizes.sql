-- title = "The size of the job's only process group"
-- doc = "A collective that does not name its group is that one's."
-- [params]
-- size = { type = "BIGINT", doc = "how many processes the group has" }
UPDATE stage.collectives SET group_size = $size WHERE group_size IS NULL
