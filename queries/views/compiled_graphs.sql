-- doc = """Graphs that torch.compile made: one row per compilation that `traceview collect` noted until the recording
-- was over, and per graph whose calls the trace marks. A function that is compiled again has the same frame."""
-- [columns]
-- graph = """number of the frame, a slash, and how often that had been compiled before; of compiled autograd after an
-- exclamation mark, the number of its graph and a slash"""
-- frame = "number of the frame (a function, or the rest of one after a graph break)"
-- attempt = "how often the frame had been compiled before: above 0 it is a recompilation"
-- function = "name of the function"
-- file = "its file"
-- line = "line where it begins"
-- operators = "operators in the graph, as Dynamo counts them"
-- reason = "why what was compiled before did not fit"
-- failed = "why compiling failed: calls that the function's other graphs do not fit run operator by operator"
-- start_ns = "when compiling began; before the recording below 0"
-- compile_ns = "how long it took; 0 where the code came from a cache"
-- is_noted = "whether its compilation was noted; of others only calls are known"
-- calls = "calls in the recording, where the trace marks them"
-- is_in_steps = "whether it was compiled during a recorded step that counts"
WITH told AS (
    SELECT DISTINCT ON (r.value) TRY_CAST(r.value->>'$.rank' AS INTEGER) AS rank, r.value->'$.compiled.graphs' AS graphs
    FROM raw.captures c, json_each(c.options, '$.ranks') r
    WHERE json_type(r.value, '$.compiled.graphs') = 'ARRAY'
), noted AS (
    SELECT g.rank, g.value->>'$.id' AS graph, g.value->>'$.function' AS function, g.value->>'$.file' AS file,
        TRY_CAST(g.value->>'$.line' AS INTEGER) AS line, TRY_CAST(g.value->>'$.operators' AS BIGINT) AS operators,
        g.value->>'$.recompiled' AS reason, g.value->>'$.failed' AS failed,
        -- Numbers that are not times are left out: below, thousands and sums of them have to fit.
        if(started BETWEEN 0 AND 4e15, started, NULL) AS start_us,
        if(lasted BETWEEN 0 AND 1e12, lasted, NULL) AS dur_us,
        coalesce(TRY_CAST(g.value->>'$.is_backward' AS BOOLEAN), false) AS is_backward
    FROM (SELECT t.rank, g.value, TRY_CAST(g.value->>'$.start_us' AS BIGINT) AS started,
        TRY_CAST(g.value->>'$.dur_us' AS BIGINT) AS lasted FROM told t, json_each(t.graphs) g) g
), compiled AS (
    -- A backward graph that is compiled later has the number of its forward one.
    SELECT rank, graph, any_value(function) AS function, any_value(file) AS file, any_value(line) AS line,
        any_value(operators) AS operators, any_value(reason) AS reason, any_value(failed) AS failed,
        min(start_us) AS start_us, sum(dur_us) AS dur_us
    FROM noted WHERE regexp_matches(graph, '^(!\d{1,9}/)?\d{1,9}/\d{1,9}$') GROUP BY rank, graph
), origin AS (
    SELECT rank, min(origin_unix_ns) AS origin_ns FROM raw.captures GROUP BY rank
), marked AS (
    SELECT rank, regexp_extract(name, '^Torch-Compiled Region: ((?:!\d{1,9}/)?\d{1,9}/\d{1,9})\b', 1) AS graph,
        count(*) AS calls
    FROM raw.ops WHERE starts_with(name, 'Torch-Compiled Region: ') GROUP BY ALL
), every AS (
    SELECT coalesce(c.rank, m.rank) AS rank, coalesce(c.graph, m.graph) AS graph, c.function, c.file, c.line,
        c.operators, c.reason, c.failed, TRY_CAST(c.start_us * 1000 AS BIGINT) - o.origin_ns AS start_ns,
        TRY_CAST(c.dur_us * 1000 AS BIGINT) AS compile_ns, c.graph IS NOT NULL AS is_noted,
        coalesce(m.calls, if(c.rank IN (SELECT rank FROM marked), 0, NULL)) AS calls
    FROM compiled c FULL JOIN marked m ON m.rank = c.rank AND m.graph = c.graph
    LEFT JOIN origin o ON o.rank = c.rank
    WHERE coalesce(c.graph, m.graph) <> ''
)
-- A compilation that reached the limit of them is noted without its function: it is that of the frame's other graphs.
SELECT e.* REPLACE (coalesce(function, any_value(function) OVER frame) AS function,
        coalesce(file, any_value(file) OVER frame) AS file, coalesce(line, any_value(line) OVER frame) AS line),
    TRY_CAST(string_split(graph, '/')[-2] AS BIGINT) AS frame,
    TRY_CAST(string_split(graph, '/')[-1] AS BIGINT) AS attempt,
    if(e.start_ns IS NULL, NULL, EXISTS (FROM counted_windows w WHERE w.rank = e.rank
        AND e.start_ns < w.end_ns AND e.start_ns + e.compile_ns > w.start_ns)) AS is_in_steps
FROM every e WINDOW frame AS (PARTITION BY rank, regexp_replace(graph, '/\d+$', ''))
