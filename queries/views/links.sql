-- doc = "A row for each recorded flow between two rows, such as forward to backward."
SELECT * FROM raw.links
