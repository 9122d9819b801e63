-- title = "The rows of one table among kernels and copies that were placed"
-- doc = "Their columns are those of that derived table."
-- [params]
-- table = { type = "VARCHAR", doc = "kernels or memcpys" }
SELECT * EXCLUDE ("table") FROM placed WHERE "table" = $table
