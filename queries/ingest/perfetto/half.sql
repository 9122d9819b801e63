-- title = "Perfetto: starts, ends, instants and samples"
-- doc = """The events of the batch that is registered, to be kept until all have been read. Lost is one whose name or
-- category is the number of a text that is not in the file; ends and samples need neither."""
SELECT "row", track, generation, kind, at_ns, dur_ns, value, CAST(name AS VARCHAR) AS name,
    CAST(category AS VARCHAR) AS category, is_lost AND kind NOT IN (2, 4) AS is_lost
FROM batch
