-- doc = """The tree of modules: those whose calls were recorded (by the collector, PyTorch's own trace or NVTX), else
-- the scopes that operators' names have, else guessed layers. An operator belongs to its innermost module, whose path
-- is its `layer`; a functional one to the module around it. A path is the module's name within its model; PyTorch's own
-- trace knows only class and number, and there the tree is that of the first calls. Containers that are never called
-- are in it too."""
-- materialize = true
-- [columns]
-- id = "number of the module; no event has it"
-- path = "name within its model, the `layer` of its operators"
-- class = "class of the module, where recorded"
-- depth = "modules around it: 0 for the model"
-- parent = "id of the module around it"
-- calls = """calls of its forward in steps (in a recording without steps, all), those that compute it again included; 0
-- of containers, NULL where not recorded"""
-- ancestors = "paths of the modules around it, outermost first, and its own"
-- first_ns = "start of its first call or operator"
-- position = "place in the order of first use, each module behind the one that it is in"
WITH RECURSIVE span AS (
    SELECT rank, id, parent_id, domain IS NOT DISTINCT FROM 'nn.Module' AS is_frame, start_ns,
        start_ns + dur_ns AS end_ns,
        regexp_replace(name, ' \(\w+\)$', '') AS path, nullif(regexp_extract(name, ' \((\w+)\)$', 1), '') AS class
    FROM raw.ranges WHERE kind = 'module'
    -- Frames of calls that the collector named say the same once more.
    QUALIFY NOT is_frame OR bool_and(is_frame) OVER (PARTITION BY rank)
), called AS (
    SELECT s.rank, s.path, bool_and(s.is_frame) AS is_frame, arg_min(s.class, s.start_ns) AS class,
        count(*) FILTER (s.start_ns < t.end_ns OR NOT EXISTS (FROM steps)) AS calls,
        min(s.start_ns) AS first_ns, max(s.end_ns) AS until_ns,
        -- One that is computed again for the backward pass has nothing around it there.
        arg_min(p.path, s.start_ns) FILTER (p.path <> s.path) AS around
    FROM span s LEFT JOIN span p ON p.id = s.parent_id
    ASOF LEFT JOIN steps t ON t.rank = s.rank AND t.start_ns <= s.start_ns
    GROUP BY s.rank, s.path
), known AS (
    SELECT rank, path, is_frame, if(is_frame, regexp_replace(path, '_\d+$', ''), class) AS class, calls, first_ns,
        until_ns, around FROM called
    UNION ALL
    SELECT rank, layer, false, NULL, NULL, first_ns, first_ns, NULL
    FROM layers l WHERE NOT EXISTS (FROM called c WHERE c.rank = l.rank AND c.path = l.layer)
), split AS (
    -- In a path of slashes a dot is part of a name.
    SELECT *, contains(path, '/') AS has_slashes,
        if(is_frame, [path], string_split(path, if(contains(path, '/'), '/', '.'))) AS parts
    FROM known
), parted AS (
    SELECT * EXCLUDE (has_slashes, parts), list_transform(range(1, len(parts) + 1), lambda n: if(has_slashes,
        array_to_string(parts[:n], '/'), array_to_string(parts[:n], '.'))) AS prefixes
    FROM split
), every AS (
    FROM parted
    UNION ALL BY NAME
    SELECT p.rank, p.prefixes[n] AS path, if(bool_or(p.calls IS NULL), NULL, 0) AS calls,
        min(p.first_ns) AS first_ns, max(p.until_ns) AS until_ns, any_value(p.prefixes[:n]) AS prefixes
    FROM parted p, unnest(range(1, len(p.prefixes))) AS t(n)
    WHERE NOT EXISTS (FROM known k WHERE k.rank = p.rank AND k.path = p.prefixes[n])
    GROUP BY p.rank, p.prefixes[n]
), numbered AS (
    SELECT *, prefixes[1] AS top, row_number() OVER (PARTITION BY rank
        ORDER BY first_ns, until_ns DESC, len(prefixes), path) AS position
    FROM every
), top AS (
    -- What the first components of paths lie in: modules of another name that began before.
    SELECT rank, top, min(position) AS position FROM numbered GROUP BY rank, top
), held AS (
    SELECT n.rank, n.top, arg_min(n.around, n.position) AS around
    FROM numbered n
    JOIN top t ON t.rank = n.rank AND t.top = n.top
    JOIN numbered a ON a.rank = n.rank AND a.path = n.around AND a.top <> n.top
    JOIN top o ON o.rank = a.rank AND o.top = a.top AND o.position < t.position
    GROUP BY n.rank, n.top
), linked AS (
    SELECT n.*, (CAST(n.rank AS BIGINT) << 40) + (CAST(3 AS BIGINT) << 38) + n.position AS id,
        if(len(n.prefixes) > 1, n.prefixes[-2], h.around) AS above
    FROM numbered n LEFT JOIN held h ON h.rank = n.rank AND h.top = n.top
), placed AS (
    SELECT id, rank, path, class, 0 AS depth, CAST(NULL AS BIGINT) AS parent, calls, [path] AS ancestors, first_ns,
        [position] AS places
    FROM linked WHERE above IS NULL
    UNION ALL
    SELECT l.id, l.rank, l.path, l.class, p.depth + 1, p.id, l.calls, list_append(p.ancestors, l.path), l.first_ns,
        list_append(p.places, l.position)
    FROM linked l JOIN placed p ON p.rank = l.rank AND p.path = l.above
)
SELECT id, rank, path, class, depth, parent, CAST(calls AS BIGINT) AS calls, ancestors, first_ns,
    row_number() OVER (PARTITION BY rank ORDER BY places) AS position
FROM placed
