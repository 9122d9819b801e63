-- doc = """One call of a kernel that Inductor (torch.compile) made of several operators, in Triton or C++. Its name
-- says of which: the first ten of them, each once, in the order of the alphabet, and a name that can be read in two
-- ways is read as the longer operator. Its time is not divided among them; its module is the innermost one around the
-- compiled code, which may hold others inside."""
-- materialize = true
-- in_job = "per * greatest({n_ranks}, 1) AS per_rank"
-- [columns]
-- id = "the kernel, or on a CPU the operator"
-- kernel = "name of the kernel, as recorded"
-- kind = "pointwise, reduction, persistent reduction, foreach, template, or C++"
-- operators = "ATen operators that it computes"
-- is_whole = "whether the name holds all of them: it has room for ten"
-- module = "innermost module around it"
-- file = "of the user's own code, where lines were recorded"
-- code_file = "file of its code, as recorded"
-- code_config = "sizes of blocks, warps and stages that it was compiled with"
-- is_backward = "whether its operator is one of a gradient, or inside one; NULL where none is known, as in a graph"
-- bytes = "each argument once, where shapes are recorded"
-- busy_ns = "time on the device, of this call"
WITH RECURSIVE named AS (
    SELECT name, regexp_extract(name,
        '^(?:graph_\d+_)?(?:triton_(poi|red|per|for|tem|unk|spl)_|(cpp)_|triton_)(?:\w*_)?fused_(\w+?)_\d+(?:_\d\w*)?$',
        ['kind', 'cpp', 'said']) AS told
    FROM (SELECT DISTINCT name FROM performed WHERE name LIKE '%\_fused\_%' ESCAPE '\')
), split AS (
    SELECT name, CASE told.kind WHEN 'poi' THEN 'pointwise' WHEN 'red' THEN 'reduction'
            WHEN 'per' THEN 'persistent reduction' WHEN 'for' THEN 'foreach' WHEN 'tem' THEN 'template'
            ELSE if(told.cpp = 'cpp', 'C++', 'pointwise or reduction') END AS kind,
        string_split(told.said, '_') AS words
    FROM named WHERE told.said <> ''
), known AS (
    SELECT unnest(names) AS name FROM names.aten
), longest AS (
    SELECT max(len(string_split(name, '_'))) AS words FROM known
), piece AS (
    -- Every run of words that may be an operator: a known name, or a single word.
    SELECT s.name, f.place, f.place + n.n AS until, array_to_string(s.words[f.place:f.place + n.n - 1], '_') AS operator
    FROM split s, unnest(range(1, len(s.words) + 1)) AS f(place),
        unnest(range(1, least((SELECT words FROM longest), len(s.words) - f.place + 1) + 1)) AS n(n)
    WHERE n.n = 1 OR array_to_string(s.words[f.place:f.place + n.n - 1], '_') IN (SELECT name FROM known)
        -- What is split before an underscore begins with an empty word.
        OR (n.n = 2 AND s.words[f.place] = '')
), step AS (
    SELECT name, place, max(until) AS until, arg_max(operator, until) AS operator FROM piece GROUP BY name, place
), read AS (
    SELECT name, until, [operator] AS operators FROM step WHERE place = 1
    UNION ALL
    SELECT r.name, s.until, list_append(r.operators, s.operator) FROM read r JOIN step s ON s.name = r.name
        AND s.place = r.until
), whole AS (
    SELECT r.name, r.operators, p.kind FROM read r JOIN split p ON p.name = r.name AND r.until = len(p.words) + 1
), placed AS (
    SELECT op_id, any_value(file) AS file, any_value(line) AS line FROM source_lines
    WHERE line IS NOT NULL AND op_id IS NOT NULL
    GROUP BY op_id
), cost AS (
    SELECT op_id, max(bytes) AS bytes FROM op_costs WHERE family = 'compiled' GROUP BY op_id
)
SELECT b.rank, b.id, b.op_id, b.name AS kernel, w.kind, w.operators, len(w.operators) < 10 AS is_whole,
    any_value(b.layer) AS module, any_value(l.file) AS file, any_value(l.line) AS line,
    any_value(o.code_file) AS code_file, any_value(o.code_config) AS code_config,
    bool_or(b.op_is_backward) AS is_backward, any_value(b.step) AS step, any_value(c.bytes) AS bytes,
    CAST(sum(b.dur_ns) AS BIGINT) AS busy_ns, CAST(sum(b.step_alone_ns) AS BIGINT) AS step_alone_ns,
    bool_or(b.is_counted) AS is_counted, any_value(b.per) AS per,
    any_value(b.per_rank) AS per_rank
FROM busy b JOIN whole w ON w.name = b.name
LEFT JOIN placed l ON l.op_id = b.op_id
LEFT JOIN raw.ops o ON o.id = b.op_id
LEFT JOIN cost c ON c.op_id = b.op_id
GROUP BY b.rank, b.id, b.op_id, b.name, w.kind, w.operators
