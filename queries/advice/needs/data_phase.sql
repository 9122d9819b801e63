-- title = "Marks of data loading"
-- record = "marks of loading and padding"
-- missing = "the trace marks no loading of data"
SELECT EXISTS (FROM raw.ranges WHERE kind = 'phase' AND name = 'data')
