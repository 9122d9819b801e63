-- title = "Perfetto: starts, ends, instants and samples"
-- doc = "The events of the batch that is registered, to be kept until all have been read."
SELECT "row", track, kind, at_ns, dur_ns, value, CAST(name AS VARCHAR) AS name, CAST(category AS VARCHAR) AS category
FROM batch
