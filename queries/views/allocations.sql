-- doc = """A piece of memory of a framework's allocator, from its allocation to its release, with what allocated it and
-- what kind of data it seems to hold. The kind is what `traceview collect` noted, else a guess from when memory is
-- allocated and released: by operators of which pass, and within which steps."""
-- materialize = true
-- empty_without = ["raw.allocations"]
-- types = """id BIGINT, rank INTEGER, pid BIGINT, device BIGINT, stream BIGINT, address BIGINT, size_bytes BIGINT,
-- allocated_ns BIGINT, freed_ns BIGINT, freed_id BIGINT, how VARCHAR, kind VARCHAR, is_guessed BOOLEAN, label VARCHAR,
-- op_id BIGINT, op_name VARCHAR, layer VARCHAR, phase VARCHAR, step BIGINT, freed_op_id BIGINT, freed_op_name VARCHAR,
-- freed_phase VARCHAR, freed_step BIGINT, file VARCHAR, line INTEGER, program VARCHAR"""
-- [columns]
-- kind = """parameter, buffer, gradient, optimizer_state, activation (kept for the backward pass), input, workspace
-- (of a convolution or matrix product), temporary, unknown; of a program of XLA argument (a parameter or an input of
-- it), output, temporary (all that lives within it)"""
-- is_guessed = "whether the kind is a guess"
-- op_id = "operator that allocated it: the innermost around it that does more than allocate"
-- phase = "phase of that operator; backward where it is one of a gradient"
-- freed_op_id = "innermost operator around its release, on that thread"
-- file = "file of the line of the user's own code that allocated it"
-- line = "the line"
-- program = "of XLA: module of the program of which it is an argument, a result or the temporary buffer"
WITH mark AS (
    SELECT rank, step, min(start_ns) FILTER (is_backward) AS backward_ns,
        max(start_ns) FILTER (is_backward) AS last_backward_ns,
        min(start_ns) FILTER (phase = 'optimizer') AS optimizer_ns,
        bool_or(sequence IS NOT NULL) AS has_gradients,
        min(start_ns) FILTER (is_layer) AS model_ns, max(start_ns) FILTER (is_layer AND NOT is_backward) AS after_ns,
        max(step) OVER (PARTITION BY rank) AS last_step
    FROM (SELECT *, layer IS NOT NULL AND coalesce(phase, '') NOT IN ('data', 'optimizer') AS is_layer FROM raw.ops)
    WHERE step IS NOT NULL GROUP BY rank, step
), made AS (
    SELECT a.*,
        -- An operator that only allocates is part of the one that needs the memory.
        CASE WHEN NOT regexp_matches(o.name, '^aten::(new_)?(empty|resize)') OR p.id IS NULL THEN o.id
            WHEN NOT regexp_matches(p.name, '^aten::(new_)?(empty|resize)') OR p.parent_id IS NULL THEN p.id
            ELSE p.parent_id END AS maker_id,
        f.name AS freed_op_name, if(f.is_backward, 'backward', f.phase) AS freed_phase
    FROM raw.allocations a
    LEFT JOIN raw.ops o ON o.id = a.op_id
    LEFT JOIN raw.ops p ON p.id = o.parent_id
    LEFT JOIN raw.ops f ON f.id = a.freed_op_id
), known AS (
    SELECT a.*, m.name AS maker_name, m.category, m.end_ns AS maker_end_ns, m.layer, m.is_backward,
        if(m.is_backward, 'backward', m.phase) AS phase, m.path, k.backward_ns, k.last_backward_ns,
        k.optimizer_ns, k.has_gradients, k.model_ns, k.after_ns,
        -- What a loop's variable holds is released when the next step overwrites it.
        a.freed_step <= a.step + 1 OR (a.freed_ns IS NULL AND a.step = k.last_step) AS is_overwritten
    FROM made a
    LEFT JOIN ops m ON m.id = a.maker_id
    LEFT JOIN mark k ON k.rank = a.rank AND k.step = a.step
), framed AS (
    SELECT id, regexp_extract(frame, '^(.+):(\d+)(?: .*)?$', ['file', 'line']) AS said
    FROM (
        SELECT id, list_filter(string_split(call_stack, chr(10)), lambda frame: NOT regexp_matches(frame,
            '[/\\](site-packages|dist-packages|lib/python\d[.\d]*)[/\\]|^[<?]|\.(cpp|cc|cu|c|h):'))[1] AS frame
        FROM raw.allocations WHERE call_stack IS NOT NULL
    )
), piece AS (
    -- Memory that XLA assigned to programs.
    SELECT DISTINCT rank, module, size_bytes, if(kind = 'aliased', 'argument', kind) AS kind
    FROM raw.program_buffers WHERE kind IN ('argument', 'aliased', 'output', 'temporary') AND size_bytes > 0
), run AS (
    SELECT rank, pid, tid, start_ns, start_ns + dur_ns AS end_ns,
        nullif(regexp_extract(name, '^(.+):XLA GPU module$', 1), '') AS module
    FROM raw.ranges WHERE name LIKE '%:XLA GPU module' OR name LIKE '%Executable::EnqueueExecution'
), asked AS (
    SELECT a.id, a.rank, a.pid, a.tid, a.allocated_ns, coalesce(a.asked_bytes, a.size_bytes) AS bytes
    FROM raw.allocations a WHERE a.how = 'recorded' AND a.op_id IS NULL AND a.kind IS NULL
        AND EXISTS (FROM piece)
), during AS (
    SELECT a.id, c.end_ns AS until_ns FROM asked a
    ASOF JOIN (FROM run WHERE module IS NULL) c ON c.rank = a.rank AND c.pid IS NOT DISTINCT FROM a.pid
        AND c.tid IS NOT DISTINCT FROM a.tid AND a.allocated_ns >= c.start_ns
    WHERE a.allocated_ns < c.end_ns
), placed AS (
    -- The program's own span begins when its memory has been allocated.
    SELECT a.*, d.id IS NOT NULL AS is_inside,
        if(m.start_ns >= a.allocated_ns, m.module, NULL) AS module
    FROM asked a LEFT JOIN during d ON d.id = a.id
    ASOF LEFT JOIN (FROM run WHERE module IS NOT NULL) m ON m.rank = a.rank AND m.pid IS NOT DISTINCT FROM a.pid
        AND m.tid IS NOT DISTINCT FROM a.tid AND d.until_ns >= m.end_ns
), held AS (
    -- Between the begin and the end of a program's execution on a thread only its results and its temporary buffer are
    -- allocated. Elsewhere the size has to be that of one kind of piece of all programs: a guess.
    SELECT a.id, if(count(DISTINCT p.module) = 1, any_value(p.module), NULL) AS module, any_value(p.kind) AS kind,
        any_value(NOT a.is_inside) AS is_guessed
    FROM placed a
    JOIN piece p ON p.rank = a.rank AND p.size_bytes = a.bytes
        AND (NOT a.is_inside OR (p.module = a.module AND p.kind IN ('output', 'temporary')))
    GROUP BY a.id HAVING count(DISTINCT p.kind) = 1
)
SELECT a.id, a.rank, a.pid, a.device, a.stream, a.address, a.size_bytes, a.allocated_ns, a.freed_ns, a.freed_id, a.how,
    CASE
        WHEN a.kind IS NOT NULL THEN a.kind
        WHEN x.kind IS NOT NULL THEN x.kind
        WHEN a.allocated_ns IS NULL OR a.how <> 'recorded' THEN 'unknown'
        WHEN a.freed_ns <= a.maker_end_ns THEN if(a.category IN ('conv', 'gemm'), 'workspace', 'temporary')
        WHEN a.phase = 'data' OR (a.layer IS NULL AND regexp_matches(a.path, 'aten::(to|pin_memory)$')) THEN 'input'
        WHEN a.step IS NULL THEN 'unknown'
        WHEN a.phase = 'optimizer' THEN if(a.freed_step = a.step, 'temporary', 'optimizer_state')
        -- Parameters that are updated during the backward pass: gradients and other data are released alike.
        WHEN a.is_backward AND a.freed_step = a.step AND a.optimizer_ns < a.last_backward_ns
            AND a.freed_ns > a.optimizer_ns THEN if(a.freed_phase = 'optimizer', 'gradient', 'unknown')
        WHEN a.is_backward THEN if(a.freed_step = a.step AND (a.optimizer_ns IS NULL OR a.freed_ns < a.optimizer_ns),
            'temporary', 'gradient')
        -- With gradients and without a backward pass: as if one were to come. Without gradients it may be a cache.
        WHEN a.has_gradients AND a.backward_ns IS NULL AND a.layer IS NOT NULL AND a.freed_ns > a.after_ns
            THEN 'activation'
        WHEN a.freed_step = a.step AND (a.backward_ns IS NULL OR a.freed_ns < a.backward_ns) THEN 'temporary'
        WHEN a.is_overwritten AND a.maker_id IS NOT NULL AND a.layer IS NULL AND a.allocated_ns < a.model_ns
            AND coalesce(a.category, '') NOT IN ('conv', 'gemm')
            THEN 'input'
        WHEN a.is_overwritten AND a.maker_id IS NOT NULL AND a.allocated_ns < a.backward_ns THEN 'activation'
        ELSE 'unknown' END AS kind,
    coalesce(x.is_guessed, a.kind IS NULL AND a.how = 'recorded' AND a.allocated_ns IS NOT NULL) AS is_guessed,
    a.label, a.maker_id AS op_id, a.maker_name AS op_name, a.layer, a.phase, a.step, a.freed_op_id, a.freed_op_name,
    a.freed_phase, a.freed_step, coalesce(l.file, r.said.file) AS file,
    coalesce(l.line, TRY_CAST(r.said.line AS INTEGER)) AS line, x.module AS program
FROM known a
LEFT JOIN source_lines l ON l.op_id = a.maker_id
LEFT JOIN framed r ON r.id = a.id
LEFT JOIN held x ON x.id = a.id
