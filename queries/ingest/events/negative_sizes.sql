-- title = "Copies of less than no bytes have no known size"
-- doc = "Returns their names."
UPDATE stage.memcpys SET size_bytes = NULL WHERE size_bytes < 0 RETURNING name
