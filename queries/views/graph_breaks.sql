-- doc = """Places where torch.compile had to end a graph, as `traceview collect` noted them until the recording was
-- over: one row per place and reason."""
-- [columns]
-- reason = "what Dynamo says; NULL where this version of PyTorch only counts"
-- file = "of the line at which the graph ends"
-- function = "the function that was compiled there"
-- n = "times that a graph ended there while code was compiled"
SELECT TRY_CAST(r.rank AS INTEGER) AS rank, b.value->>'$.reason' AS reason, b.value->>'$.file' AS file,
    TRY_CAST(b.value->>'$.line' AS INTEGER) AS line, b.value->>'$.function' AS function, count(*) AS n
FROM (SELECT DISTINCT ON (r.value) r.value->>'$.rank' AS rank, r.value->'$.compiled.breaks' AS breaks
    FROM raw.captures c, json_each(c.options, '$.ranks') r
    WHERE json_type(r.value, '$.compiled.breaks') = 'ARRAY') r, json_each(r.breaks) b
GROUP BY ALL
