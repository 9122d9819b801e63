-- title = "Marks of padding"
-- missing = 'no range tells what is padding; mark each batch with one named "traceview.padding: REAL of PADDED"'
SELECT EXISTS (FROM raw.ranges WHERE name LIKE 'traceview.padding: %')
