-- title = "Compiled code in pieces"
-- doc = """Code of torch.compile that calls other compiled code from Python: its graph ended early (a graph break), and
-- what follows is a graph of its own; and functions that torch.compile could not compile and of which no graph runs in
-- the recorded steps, where these are noted: where they are not, and calls of compiled code follow one another in a
-- step (one forward and one of compiled autograd are no such calls), the rule cannot tell. The bound is, from the first
-- compiled work of such a call to its end, the time in which no compiled work runs: guards, Python, operators outside
-- of graphs, and the same in the gradients of the later pieces. On a device it is what it idles there because the host
-- has not launched more, and its time in operators outside of graphs. What kernels that fuse across a break may save
-- besides is a second number in the evidence."""
-- why = """Each piece checks its guards and enters its kernels anew; what lies between runs in Python, operator by
-- operator; and no kernel can fuse across the border, so that tensors go through the memory."""
-- cost = "None, where the line can be changed without changing what it does; larger graphs compile longer."
-- unless = "What stands at the break has to run in every call (logging, a decision by a value)."
-- needs = ["compiled_code"]
-- [fix]
-- pytorch = """torch.compile(..., fullgraph=True) fails at the first break and names it; move print and logging out of
-- the function; replace an if on a tensor by torch.where or torch.cond, .item() by a tensor
-- (torch._dynamo.config.capture_scalar_outputs = True), an unknown C++ function by torch.library.custom_op; a function
-- that reached recompile_limit: torch.compile(dynamic=True), torch._dynamo.mark_dynamic(tensor, 0), or fewer sizes"""
-- any = "compile the function as one graph"
-- [params]
-- break_step_pct = { type = "DOUBLE", default = 1, doc = "found above this share of the step, in percent" }
WITH region AS (
    SELECT r.id, r.rank, r.pid, r.tid, r.start_ns, r.start_ns + r.dur_ns AS end_ns,
        coalesce(nullif(regexp_extract(r.name, '^Torch-Compiled Region: ((?:!\d{1,9}/)?\d{1,9})/\d{1,9}\b', 1), ''),
            '(unknown)') AS frame,
        max(r.start_ns + r.dur_ns) OVER (PARTITION BY r.rank, r.pid, r.tid ORDER BY r.start_ns, r.dur_ns DESC, r.id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_ns
    -- What custom operators compile inside of a graph is called by that graph.
    FROM raw.ops r LEFT JOIN raw.ops p ON p.id = r.parent_id
    WHERE starts_with(r.name, 'Torch-Compiled Region: ')
        AND NOT coalesce(regexp_matches(p.name, '^CompiledFunction|CompiledFxGraph'), false)
), whole AS (
    SELECT *, row_number() OVER (ORDER BY rank, pid, tid, start_ns) AS call
    FROM region WHERE covered_ns IS NULL OR start_ns >= covered_ns
), piece AS (
    SELECT w.rank, w.call, r.id, r.frame FROM region r ASOF JOIN whole w ON w.rank = r.rank
        AND w.pid IS NOT DISTINCT FROM r.pid AND w.tid = r.tid AND r.start_ns >= w.start_ns
), broken AS (
    SELECT w.*, c.n_pieces, c.frames FROM whole w JOIN (
        SELECT call, count(*) AS n_pieces, list_transform(list_sort(list(DISTINCT
            {'number': TRY_CAST(regexp_extract(frame, '\d+$') AS BIGINT), 'name': frame})), lambda graph: graph.name)
            AS frames
        FROM piece GROUP BY call HAVING count(*) > 1
    ) c ON c.call = w.call
    JOIN counted_windows v ON v.rank = w.rank AND w.start_ns >= v.start_ns AND w.start_ns < v.end_ns
), inside AS (
    SELECT o.id, o.name, o.rank, o.pid, o.tid, o.start_ns, o.start_ns + o.dur_ns AS end_ns, o.dur_ns, b.call,
        CASE WHEN regexp_matches(o.name, '^CompiledFunction|CompiledFxGraph') THEN 'graph'
            WHEN starts_with(o.name, 'Torch-Compiled Region: ') THEN 'region'
            WHEN regexp_matches(o.name, '^TorchDynamo |^Pregraph |^AOTDispatcher ') THEN 'entry'
            WHEN p.name IS NULL OR regexp_matches(p.name, '^TorchDynamo |^Pregraph |^AOTDispatcher ') THEN NULL
            WHEN regexp_matches(p.name, '^CompiledFunction|CompiledFxGraph') THEN 'compiled'
            WHEN starts_with(p.name, 'Torch-Compiled Region: ') THEN 'between' END AS part
    FROM raw.ops o LEFT JOIN raw.ops p ON p.id = o.parent_id
    ASOF JOIN broken b ON b.rank = o.rank AND b.pid IS NOT DISTINCT FROM o.pid AND b.tid = o.tid
        AND o.start_ns >= b.start_ns
    WHERE o.start_ns < b.end_ns
), kind AS (
    -- Without marks of the graph itself, as in inference, its operators lie in the region directly.
    SELECT i.*, i.part = 'compiled' OR i.part = 'between' AND NOT bool_or(i.part = 'graph') OVER (PARTITION BY i.call)
        AS is_work, i.part = 'between' AND bool_or(i.part = 'graph') OVER (PARTITION BY i.call) AS is_eager
    FROM inside i
), compiling AS (
    SELECT call, sum(greatest(end_ns - greatest(start_ns, coalesce(until_ns, start_ns)), 0)) AS ns FROM (
        SELECT call, start_ns, end_ns, max(end_ns) OVER (PARTITION BY call ORDER BY start_ns, end_ns DESC, id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until_ns
        FROM inside WHERE name LIKE '%(dynamo_timed)'
    ) GROUP BY call
), forward AS (
    SELECT b.rank, b.call, any_value(b.n_pieces) AS n_pieces, any_value(b.frames) AS frames,
        any_value(b.end_ns) AS end_ns, min(k.start_ns) FILTER (k.is_work) AS work_ns,
        arg_min(k.id, k.start_ns) FILTER (k.part = 'graph') AS first_id,
        greatest(any_value(b.end_ns) - work_ns - sum(k.dur_ns) FILTER (k.is_work)
            - coalesce(any_value(n.ns), 0), 0) AS host_ns,
        coalesce(sum(k.dur_ns) FILTER (k.name LIKE '%\_fused\_%' ESCAPE '\'), 0)
            - coalesce(max(k.dur_ns) FILTER (k.name LIKE '%\_fused\_%' ESCAPE '\'), 0) AS fused_ns
    FROM broken b JOIN kind k ON k.call = b.call LEFT JOIN compiling n ON n.call = b.call GROUP BY b.rank, b.call
), gradient AS (
    -- Each piece is a step of autograd's engine, which is the operator around it.
    SELECT g.id, f.rank, f.call, f.first_id = k.id AS is_first, coalesce(e.dur_ns, g.dur_ns) AS dur_ns
    FROM kind k JOIN forward f ON f.call = k.call
    JOIN raw.ops g ON g.forward_id = k.id AND g.name = 'CompiledFunctionBackward'
    LEFT JOIN raw.ops e ON e.id = g.parent_id AND starts_with(e.name, 'autograd::engine::evaluate_function')
), backward AS (
    SELECT g.rank, g.call, g.id, g.is_first, g.dur_ns, coalesce(sum(o.dur_ns), 0) AS work_ns,
        coalesce(sum(o.dur_ns) FILTER (o.name LIKE '%\_fused\_%' ESCAPE '\'), 0) AS kernel_ns
    FROM gradient g LEFT JOIN raw.ops o ON o.parent_id = g.id GROUP BY ALL
), back AS (
    SELECT call, sum(dur_ns - work_ns) FILTER (NOT is_first) AS host_ns, sum(kernel_ns) - max(kernel_ns) AS fused_ns
    FROM backward GROUP BY call
), waited AS (
    SELECT f.call, sum(g.launch_ns) AS idle_ns FROM idle_gaps g
    ASOF JOIN forward f ON f.rank = g.rank AND g.until_ns > f.work_ns
    WHERE g.from_ns < f.end_ns AND g.launch_ns > 0 GROUP BY f.call
), eager AS (
    SELECT e.call, sum(c.mean_ns) AS busy_ns FROM counted c JOIN raw.ops o ON o.id = c.op_id
    ASOF JOIN (FROM kind WHERE is_eager) e ON e.rank = o.rank AND e.pid IS NOT DISTINCT FROM o.pid AND e.tid = o.tid
        AND o.start_ns >= e.start_ns
    WHERE o.start_ns < e.end_ns AND c.kind <> 'op' GROUP BY e.call
), call AS (
    SELECT f.rank, f.n_pieces, f.frames,
        if(f.rank IN (SELECT rank FROM raw.kernels),
            least(coalesce(w.idle_ns, 0), f.host_ns) / greatest(s.n_devices, 1) + coalesce(e.busy_ns, 0),
            f.host_ns + coalesce(b.host_ns, 0)) / greatest(s.n_steps, 1) AS lost_ns,
        if(f.rank IN (SELECT rank FROM raw.kernels), NULL, f.fused_ns + coalesce(b.fused_ns, 0))
            / greatest(s.n_steps, 1) AS fused_ns,
        1 / greatest(s.n_steps, 1) AS times, s.step_ns
    FROM forward f JOIN scope s ON s.rank = f.rank LEFT JOIN back b ON b.call = f.call
    LEFT JOIN waited w ON w.call = f.call LEFT JOIN eager e ON e.call = f.call
), lost AS (
    SELECT rank, sum(lost_ns) AS lost_ns, sum(fused_ns) AS fused_ns, sum(n_pieces * times) AS n_pieces,
        sum(times) AS n_calls, any_value(step_ns) AS step_ns,
        list_sort(list(DISTINCT 'graphs ' || array_to_string(frames, ', ') || ' in one call'))[:3] AS frames
    FROM call GROUP BY rank
), place AS (
    SELECT rank, format('{}:{} ({})', file, line, function) AS place, coalesce(reason, 'reason not recorded') AS reason,
        n, false AS is_failed
    FROM graph_breaks
    UNION ALL
    SELECT rank, coalesce(format('{}:{} ({})', file, line, function), 'frame ' || frame), failed, count(*), true
    FROM compiled_graphs
    -- Calls that a function's other graphs fit run compiled.
    WHERE failed IS NOT NULL AND (rank, regexp_replace(graph, '/\d+$', '')) NOT IN (SELECT (r.rank, r.frame)
        FROM region r JOIN counted_windows v ON v.rank = r.rank AND r.start_ns >= v.start_ns AND r.start_ns < v.end_ns)
    GROUP BY ALL
), told AS (
    SELECT rank, arg_max(place, n) FILTER (NOT is_failed) AS broken, arg_max(place, n) FILTER (is_failed) AS failed,
        count(DISTINCT place) FILTER (is_failed) AS n_failed,
        list(format('{} {}: {}', if(is_failed, 'not compiled:', 'ends at'), place, reason[:300])
            ORDER BY is_failed, n DESC, place, reason)[:8] AS lines
    FROM place GROUP BY rank
), found AS (
    SELECT * FROM lost WHERE 100.0 * lost_ns > $break_step_pct * step_ns
), proved AS (
    SELECT r.rank,
        concat_ws(' ', format('A call of compiled code runs as {:.1f} pieces, between which no compiled work runs for '
                || '{:.3f} ms.', l.n_pieces / l.n_calls, l.lost_ns / 1e6),
            if(t.n_failed > 0, if(t.n_failed = 1, '1 function', t.n_failed || ' functions')
                || ' could not be compiled: the operators in it run one by one.', NULL)) AS problem,
        coalesce('Ends at ' || if(l.rank IS NULL, t.failed, t.broken), 'In ' || l.frames[1]) AS place,
        l.lost_ns AS saving_ns,
        if(l.rank IS NULL, 'medium: torch.compile says so; how much of the step is that function is not recorded',
            'medium: the marks of the graphs lie inside one another; whether what lies between can be compiled is not '
            || 'recorded') AS confidence,
        list_concat(coalesce(t.lines, []), coalesce(l.frames, []), list_filter([format('speculative: up to {:.3f} ms '
            || 'more ({:.1f} % of the step) if their kernels fuse across the breaks', l.fused_ns / 1e6,
            100 * l.fused_ns / nullif(l.step_ns, 0))], lambda line: line IS NOT NULL)) AS evidence
    FROM raw.ranks r LEFT JOIN found l ON l.rank = r.rank LEFT JOIN told t ON t.rank = r.rank
    WHERE l.rank IS NOT NULL OR t.n_failed > 0
), beside AS (
    -- A break within a loop leaves the function uncompiled, and what it calls as pieces one after the other. A graph
    -- of compiled autograd (!) follows that of the forward pass.
    SELECT DISTINCT w.rank FROM whole w JOIN counted_windows v ON v.rank = w.rank AND w.start_ns >= v.start_ns
        AND w.start_ns < v.end_ns
    WHERE w.rank NOT IN (SELECT rank FROM compiled_graphs WHERE is_noted)
    GROUP BY w.rank, v.start_ns, starts_with(w.frame, '!') HAVING count(*) > 1
)
FROM proved
UNION ALL
SELECT rank, NULL, 'recompilations', NULL, 'calls of compiled code follow one another, and the trace does not say '
    || 'whether a graph break divides them (traceview collect notes breaks)', NULL
FROM beside WHERE NOT EXISTS (FROM proved)
ORDER BY rank
