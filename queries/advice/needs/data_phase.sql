-- title = "Marks of data loading"
-- missing = "the trace marks no loading of data"
SELECT EXISTS (FROM raw.ranges WHERE kind = 'phase' AND name = 'data')
