-- doc = """Python frames of the user's own code: neither of a framework, nor of another installed package or the
-- standard library; in a rank without any, those of libraries of models. PyTorch's profiler notes where a function
-- begins, of functions that ran when recording began the line they were at; the collector (`--stacks`) notes each line
-- that runs."""
-- materialize = true
-- empty_without = ["raw.ranges"]
-- types = """id BIGINT, rank INTEGER, pid BIGINT, tid BIGINT, file VARCHAR, line INTEGER, function VARCHAR,
-- start_ns BIGINT, end_ns BIGINT, depth BIGINT, around_id BIGINT"""
-- [columns]
-- file = "path as recorded: often from the folder that it was imported from"
-- line = "number of the line"
-- around_id = "innermost such frame around it"
WITH RECURSIVE frame AS (
    SELECT r.id, r.rank, r.pid, r.tid, o.file, o.line, o.function, r.start_ns, r.start_ns + r.dur_ns AS end_ns, r.depth,
        r.parent_id
    FROM raw.ranges r JOIN own_code o ON o.name = r.name WHERE r.kind = 'python'
    QUALIFY NOT o.is_of_models OR bool_and(o.is_of_models) OVER (PARTITION BY r.rank)
), climbed AS (
    SELECT id, parent_id FROM frame WHERE parent_id IS NOT NULL
    UNION ALL
    SELECT c.id, r.parent_id FROM climbed c JOIN raw.ranges r ON r.id = c.parent_id
    WHERE r.parent_id IS NOT NULL AND NOT EXISTS (FROM frame f WHERE f.id = c.parent_id)
)
SELECT f.* EXCLUDE (parent_id), c.parent_id AS around_id
FROM frame f
LEFT JOIN (SELECT c.id, c.parent_id FROM climbed c SEMI JOIN frame f ON f.id = c.parent_id) c ON c.id = f.id
