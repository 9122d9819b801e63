-- title = "Marks of padding"
-- record = "marks of loading and padding"
-- missing = 'no range says how much is padding; open a range for each batch, named "traceview.padding: REAL of PADDED"'
SELECT EXISTS (FROM raw.ranges WHERE name LIKE 'traceview.padding: %')
