-- doc = """Line of the user's own code that each operator ran for: the innermost such frame around it; a backward
-- operator has the line of its forward one, and what a checkpoint runs again its own. What a program launched outside
-- of all operators has the line of its launch. Operators that XLA compiled have the lines that the program says they
-- were made from; of a kernel that a compiler wrote, where nothing else is known, the file of its code stands alone."""
-- materialize = true
-- [columns]
-- op_id = "the operator; NULL for a launch outside of all"
-- launch_id = "such a launch; NULL for operators"
-- frame_id = "the frame; NULL for what XLA compiled"
-- file = "path as recorded"
-- line = "number of the line: where the function begins, unless the collector noted lines; NULL for generated code"
-- is_of_forward = "whether it is the line of its forward operator"
WITH RECURSIVE called AS (
    -- Code that was compiled for the backward pass has marks of the forward lines that it was made from.
    SELECT o.rank, o.id AS op_id, CAST(NULL AS BIGINT) AS launch_id,
        coalesce(c.id, f.frame_id, o.frame_id) AS frame_id, c.id IS NULL AND f.frame_id IS NOT NULL AS is_of_forward
    FROM raw.ops o LEFT JOIN raw.ops f ON f.id = o.forward_id
    LEFT JOIN raw.ranges c ON c.id = o.frame_id AND c.domain = 'compiled'
    WHERE coalesce(f.frame_id, o.frame_id) IS NOT NULL
    UNION ALL
    SELECT rank, NULL, id, frame_id, false FROM raw.api_calls
    WHERE op_id IS NULL AND frame_id IS NOT NULL AND correlation IS NOT NULL
), climbed AS (
    SELECT frame_id, r.id, r.parent_id, u.id IS NOT NULL AS is_own
    FROM (SELECT DISTINCT frame_id FROM called) c JOIN raw.ranges r ON r.id = c.frame_id
    LEFT JOIN user_frames u ON u.id = r.id
    UNION ALL
    SELECT c.frame_id, r.id, r.parent_id, u.id IS NOT NULL
    FROM climbed c JOIN raw.ranges r ON r.id = c.parent_id LEFT JOIN user_frames u ON u.id = r.id
    WHERE NOT c.is_own
), stacked AS (
    SELECT call_stack, generate_subscripts(frames, 1) AS place, unnest(frames) AS name
    FROM (SELECT DISTINCT call_stack, string_split(call_stack, ';') AS frames FROM raw.ops
        WHERE call_stack IS NOT NULL)
), stack AS (
    -- The innermost frame of the program's own, else of a library of models.
    SELECT s.call_stack, arg_min({file: o.file, line: o.line, function: o.function}, (o.is_of_models, s.place)) AS frame
    FROM stacked s JOIN own_code o ON o.name = s.name GROUP BY s.call_stack
), found AS (
    SELECT c.rank, c.op_id, c.launch_id, u.id AS frame_id, u.file, u.line, u.function, c.is_of_forward
    FROM called c JOIN climbed x ON x.frame_id = c.frame_id AND x.is_own JOIN user_frames u ON u.id = x.id
    UNION ALL
    SELECT o.rank, o.id, NULL, NULL, s.frame.file, s.frame.line, s.frame.function, false
    FROM raw.ops o JOIN stack s ON s.call_stack = o.call_stack WHERE o.frame_id IS NULL
)
FROM found
UNION ALL
SELECT o.rank, o.id, NULL, NULL, o.code_file, NULL, o.name, false
FROM raw.ops o ANTI JOIN found f ON f.op_id = o.id WHERE o.code_file IS NOT NULL
