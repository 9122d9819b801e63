-- title = "What the numbers above rest on"
-- doc = """Faults of the recording that touch the first line: one row for each kind, none where nothing is wrong. Those
-- that touch no number stand under the report."""
-- brief = ""
-- lines = ["{text}"]
-- optional = true
-- [columns]
-- rank = "the first of the processes for which it holds"
-- text = "what is wrong, how much of it, and what it means for the numbers"
WITH work AS (
    SELECT rank, start_ns, end_ns, dur_ns, kind, step, launched_ns IS NULL AS is_unlaunched FROM performed
    WHERE kind IN ('kernel', 'copy')
), kernel AS (
    SELECT rank, count(*) AS n, count(*) FILTER (is_unlaunched) AS n_unlaunched, sum(dur_ns) AS dur_ns,
        sum(dur_ns) FILTER (is_unlaunched) AS unlaunched_ns
    FROM work WHERE kind = 'kernel' GROUP BY rank
), lost AS (
    SELECT q.rank, CAST(any_value(q.n) AS BIGINT) AS n, count(*) AS n_launches
    FROM (FROM quality WHERE kind = 'launches whose kernel is not in the recording') q
    JOIN raw.api_calls a ON a.rank = q.rank AND a.correlation IS NOT NULL AND a.name LIKE '%Launch%Kernel%'
    GROUP BY q.rank
), replayed AS (
    SELECT DISTINCT rank FROM quality WHERE starts_with(kind, 'tables of metrics')
), paused AS (
    SELECT e.rank, count(*) AS n, sum(e.dur_ns) AS dur_ns, any_value(s.total_ns) AS total_ns
    FROM profiler_pauses e JOIN scope s ON s.rank = e.rank
    WHERE e.start_ns >= s.first_ns AND e.start_ns + e.dur_ns <= s.last_ns
    GROUP BY e.rank
), spanned AS (
    SELECT h.rank, h.span_ns, s.total_ns AS worked_ns
    FROM (
        SELECT rank, max(last_ns) - min(first_ns) AS span_ns
        FROM (SELECT rank, min(start_ns) AS first_ns, max(start_ns + dur_ns) AS last_ns FROM raw.api_calls GROUP BY rank
            UNION ALL SELECT rank, min(start_ns), max(start_ns + dur_ns) FROM raw.ops
            WHERE rank IN (SELECT rank FROM work) GROUP BY rank)
        GROUP BY rank
    ) h
    JOIN scope s ON s.rank = h.rank AND NOT s.has_steps AND s.total_ns > 0
), host AS (
    SELECT *, host_cores * host_ns AS had_ns FROM processes WHERE host_cores * host_ns > 0
), gpu AS (
    SELECT rank, unnest(gpus) AS g FROM processes
), passes AS (
    SELECT rank, count(*) AS n, count(*) FILTER (NOT is_trained) AS n_forward FROM (
        SELECT o.rank, o.step, bool_or(o.forward_thread IS NOT NULL) AS is_trained
        FROM raw.ops o JOIN step_times s ON s.rank = o.rank AND s.step = o.step AND NOT s.is_warmup GROUP BY ALL)
    GROUP BY rank
), turn AS (
    -- From when the device is free for the work of a step, and has some of it, until it has done all of that.
    SELECT w.rank, any_value(s.dur_ns) AS marked_ns, max(w.end_ns) - greatest(min(w.start_ns),
        lag(max(w.end_ns)) OVER (PARTITION BY w.rank ORDER BY any_value(s.start_ns))) AS needed_ns
    FROM work w JOIN step_times s ON s.rank = w.rank AND s.step = w.step AND NOT s.is_warmup
    WHERE NOT w.is_unlaunched GROUP BY w.rank, w.step
), ahead AS (
    SELECT rank, avg(marked_ns) AS marked_ns, avg(needed_ns) AS needed_ns FROM turn GROUP BY rank HAVING count(*) >= 3
), told AS (
    -- Each file of a rank has the options.
    SELECT DISTINCT c.rank, p.value->'$.cost' AS cost FROM raw.captures c, json_each(c.options, '$.ranks') p
    WHERE TRY_CAST(p.value->>'$.rank' AS BIGINT) = c.rank
), bare AS (
    SELECT rank, max(TRY_CAST(coalesce(cost->>'$.bare_mean_ns', cost->>'$.bare_step_ns') AS BIGINT)) AS bare_ns,
        max(TRY_CAST(cost->>'$.profiled_step_ns' AS BIGINT)) AS profiled_ns
    FROM told GROUP BY rank
), warmup AS (
    SELECT rank, count(*) FILTER (is_warmup) AS n, count(*) AS n_all, avg(dur_ns) FILTER (is_warmup) AS left_ns,
        avg(dur_ns) FILTER (NOT is_warmup) AS step_ns
    FROM step_times GROUP BY rank
), extra AS (
    -- What runs in some steps alone, as a validation with gradients does.
    SELECT n.rank, n.module, count(DISTINCT o.step) AS n,
        count(DISTINCT o.step) FILTER (s.is_warmup) AS n_left
    FROM (SELECT rank, unnest(untrained) AS module FROM processes) n
    JOIN raw.ops o ON o.rank = n.rank AND (o.layer = n.module OR starts_with(o.layer, n.module || '.'))
    JOIN step_times s ON s.rank = o.rank AND s.step = o.step
    GROUP BY n.rank, n.module
), whole_graphs AS (
    SELECT rank, sum(n) FILTER (name = '[CUDA graph]') AS n, sum(alone_ns) FILTER (name = '[CUDA graph]') AS graph_ns,
        sum(alone_ns) AS busy_ns
    FROM totals WHERE is_counted OR is_carried GROUP BY rank
), validated AS (
    -- A validation with gradients ends no step: steps with as many backward passes then differ in their forward ones.
    SELECT rank, count(*) AS n, count(*) FILTER (n_forward > n_least) AS n_more
    FROM (SELECT *, min(n_forward) OVER (PARTITION BY rank, n_backward) AS n_least
        FROM (SELECT r.rank, r.step, count(*) FILTER (r.name = 'forward') AS n_forward,
                count(*) FILTER (r.name = 'backward') AS n_backward
            FROM raw.ranges r JOIN step_times s ON s.rank = r.rank AND s.step = r.step AND NOT s.is_warmup
            WHERE r.kind = 'phase' GROUP BY r.rank, r.step))
    WHERE rank IN (SELECT rank FROM processes WHERE n_unused > 0)
    GROUP BY rank
), job AS (
    SELECT count(*) AS n FROM raw.ranks
), doubt AS (
    SELECT rank, 1 AS place, if(n_rows > 0,
        format('The work of the NPU is in the file ({:,} rows) and is not read: how busy it was is not known', n_rows),
        format('The device''s work was not recorded ({}): how busy it was is not known',
        concat_ws(', ', if(n_launches > 0, format('{:,} launch{}', n_launches, if(n_launches = 1, '', 'es')), NULL),
            if(n_operators > 0, format('{:,} operator{} of a GPU''s library', n_operators,
                if(n_operators = 1, '', 's')), NULL),
            if(n_launches + n_operators = 0, 'events of its runtime', NULL)))) AS text
    FROM unrecorded
    UNION ALL
    SELECT rank, 0, format('The file is of no profiler that is known: its {:,} spans are taken for marks of the '
        || 'program, whatever they time', count(*))
    FROM raw.ranges WHERE rank IN (SELECT rank FROM captures GROUP BY rank HAVING bool_and(format = 'chrome'))
    GROUP BY rank
    UNION ALL
    SELECT rank, 1.5, 'No operator was recorded in the steps: how busy the processor was is not known, and what stands '
        || 'below as idle may be work'
    FROM account GROUP BY rank HAVING bool_and(device = 'cpu') AND sum(active_ns) = 0
    UNION ALL
    SELECT rank, 1.7, format('The log has {} headers of oneDNN, as where several runs or processes wrote into it: '
        || 'its primitives count as those of one{}', sum(n) + 1,
        if(bool_or(has_steps OR is_unstamped), '', ', and any time between runs as idle'))
    FROM quality JOIN scope USING (rank) WHERE starts_with(kind, 'further headers of oneDNN') GROUP BY rank
    UNION ALL
    SELECT rank, 1.6, 'The log has no time stamps (ONEDNN_VERBOSE_TIMESTAMP=1): its primitives are laid end to end, so '
        || 'that the recording is no wall time, shares are of it, and idle time is not known'
    FROM scope WHERE is_unstamped
    UNION ALL
    SELECT rank, 2, 'Kernels were replayed for metrics: what lies between them is the profiler''s time, and idle time '
        || 'says nothing of the program'
    FROM replayed
    UNION ALL
    SELECT rank, 3, format('{:,} launched kernel{} not in the recording ({:.1f} % of its launches): the device was '
        || 'busier than stated', n, if(n = 1, ' is', 's are'), 100.0 * n / n_launches)
    FROM lost WHERE n > 0.01 * n_launches
    UNION ALL
    SELECT q.rank, 3.5, format('{:,} of {:,} kernels and copies do not name their device: no device''s time '
        || 'holds them, and devices were busier than stated', q.n, h.kernels + h.memcpys)
    FROM quality q JOIN recorded h USING (rank)
    WHERE starts_with(q.kind, 'kernels and copies whose device is not') AND q.n > 0.01 * (h.kernels + h.memcpys)
    UNION ALL
    SELECT rank, 4, format('{:,} of {:,} kernels ({:.1f} % of their time) have no recorded launch: their operators, '
        || 'and why the device idled before them, are not known',
        n_unlaunched, n, 100.0 * unlaunched_ns / dur_ns)
    -- Where none has one, the trace records no launches.
    FROM kernel WHERE n_unlaunched < n AND unlaunched_ns > 0.05 * dur_ns
    UNION ALL
    SELECT rank, 3.7, concat(upper(told[1]), told[2:], ': what stands below as idle is the rank''s, and the GPU may be '
        || 'busy meanwhile')
    FROM shared_gpus
    UNION ALL
    SELECT rank, 4.5, format('{:,} CUDA graph{} recorded as a whole ({:.1f} % of the busy time): what ran in {}, and '
        || 'when nothing did, is not known', n, if(n = 1, ' was', 's were'), 100.0 * graph_ns / busy_ns,
        if(n = 1, 'it', 'them'))
    FROM whole_graphs WHERE graph_ns > 0.05 * busy_ns
    UNION ALL
    SELECT c.rank, 5, format('The machine was busy with something else: rank {} got {:.0f} % of the processor time '
        || 'that its operators took', c.rank, c.received_pct)
    FROM contention c WHERE c.is_contended
    UNION ALL
    -- Others matter where they leave the run no core to go to.
    SELECT rank, 9, format('The machine was busy with something else: of the cores'' time other programs took {:.0f} '
        || '%, this run {:.0f} %', 100.0 * (busy_ns - stolen_ns - own_ns) / had_ns, 100.0 * own_ns / had_ns)
    FROM host WHERE busy_ns - stolen_ns - own_ns > 0.1 * had_ns AND busy_ns > 0.9 * had_ns
        AND rank NOT IN (SELECT c.rank FROM contention c WHERE c.is_contended)
    UNION ALL
    SELECT rank, 10, format('A hypervisor took {:.0f} % of the cores'' time away', 100.0 * stolen_ns / had_ns)
    FROM host WHERE stolen_ns > 0.05 * had_ns
    UNION ALL
    SELECT rank, 11, format('The container''s limit held the run back for {:.0f} % of the time of its {} cores',
        100.0 * throttled_ns / had_ns, host_cores)
    FROM host WHERE throttled_ns > 0.05 * had_ns
    UNION ALL
    SELECT rank, 12, format('Programs of this machine waited for memory for {:.0f} % of the recording',
        100.0 * memory_stall_ns / host_ns)
    FROM host WHERE memory_stall_ns > 0.05 * host_ns
    UNION ALL
    SELECT rank, 15, format('GPU {} was held back by heat for {:.0f} % of the recording',
        arg_max(g.device, g.heat_held_pct), max(g.heat_held_pct))
    FROM gpu GROUP BY rank HAVING max(g.heat_held_pct) > 5
    UNION ALL
    SELECT rank, 16, format('GPU {} was held back by its power limit for {:.0f} % of the recording',
        arg_max(g.device, g.power_held_pct), max(g.power_held_pct))
    FROM gpu GROUP BY rank HAVING max(g.power_held_pct) > 5
    UNION ALL
    SELECT rank, 6, format('The profiler itself paused the program {:,} times, for {:.1f} % of the time above', n,
        100.0 * dur_ns / total_ns)
    FROM paused WHERE dur_ns > 0.05 * total_ns
    UNION ALL
    SELECT rank, 7, format('{:,} of {:,} events of the file could not be read: what they held is missing', n_dropped,
        n_events)
    -- Of a file that is cut off it is not known how many it held.
    FROM captures WHERE n_dropped > 0.01 * n_events AND rank NOT IN (SELECT rank FROM missing_parts)
    UNION ALL
    SELECT c.rank, 7.5, format('{:,} of {:,} events of the file have a negative duration, taken as 0: their time is '
        || 'missing', q.n, c.n_events)
    FROM captures c JOIN quality q ON q.rank = c.rank AND q.source = c.source
    WHERE starts_with(q.kind, 'negative durations') AND q.n > 0.01 * c.n_events
    UNION ALL
    SELECT m.rank, 0.5, m.text || if(m.is_certain AND s.n_steps > 0 AND j.n > 1,
        '; means over ranks count what its steps lack as no time', '')
    FROM missing_parts m CROSS JOIN job j LEFT JOIN scope s ON s.rank = m.rank
    UNION ALL
    SELECT rank, 8, format('The device''s work lies within {:.2g} % of the {:,.0f} ms in which the host was recorded: '
        || 'shares are of that part', 100.0 * worked_ns / span_ns, span_ns / 1e6)
    FROM spanned WHERE worked_ns < 0.5 * span_ns
    UNION ALL
    SELECT rank, 13, format('{} of the {} marked steps run{} no backward pass, as where a validation is marked too: '
        || 'the numbers are of both kinds', n_forward, n, if(n_forward = 1, 's', ''))
    FROM passes WHERE n_forward BETWEEN 1 AND n - 1
    UNION ALL
    SELECT rank, 14, format('The host runs ahead: marks of a step last {:.1f} ms, but the device takes {:.1f} ms for '
        || 'what one launches, which is what a step takes in the long run', marked_ns / 1e6, needed_ns / 1e6)
    FROM ahead WHERE needed_ns > 1.1 * marked_ns
    UNION ALL
    SELECT rank, 18, format('{:,} more mark{} of the name {} lie{} beside the steps, on other threads: what runs there '
        || 'is in the shares of the steps', count(*), if(count(*) = 1, '', 's'), any_value(name),
        if(count(*) = 1, 's', ''))
    FROM (FROM raw.ranges WHERE kind <> 'step') r
    SEMI JOIN (FROM raw.ranges WHERE kind = 'step') s ON s.rank = r.rank AND s.pid = r.pid AND s.name = r.name
        AND s.domain IS NOT DISTINCT FROM r.domain
    GROUP BY rank
    UNION ALL
    SELECT rank, 17, format('A second optimizer (or function that trains) came with {} of the {} recorded steps and {} '
        || 'of {} others: the numbers do not hold its usual share of the work', cost->>'$.shared[0]',
        cost->>'$.profiled_steps', cost->>'$.shared[1]', cost->>'$.bare_steps')
    FROM told
    WHERE json_type(cost, '$.shared') = 'ARRAY'
    UNION ALL
    SELECT rank, 19, format('{} of the {} recorded steps are left out as warm-up: they took {:.1f} ms on average, '
        || 'those that count {:.1f} ms', n, n_all, left_ns / 1e6, step_ns / 1e6)
    FROM warmup WHERE 2 * n >= n_all
    UNION ALL
    SELECT rank, 21, format('{}, which no optimizer trains, runs in {} of the {} recorded steps{}: they are not alike',
        module, e.n, w.n_all, if(n_left > 0, format(', of which {} left out as warm-up',
        if(n_left = 1, '1 is', n_left || ' are')), ''))
    FROM extra e JOIN warmup w USING (rank) WHERE e.n < w.n_all
    QUALIFY row_number() OVER (PARTITION BY rank ORDER BY e.n DESC, module) = 1
    UNION ALL
    SELECT rank, 22, format('{} of the {} steps that count run{} more forward passes than others, as where a '
        || 'validation runs with gradients, which is then part of the step: they are not alike',
        n_more, n, if(n_more = 1, 's', ''))
    FROM validated WHERE n_more > 0
    UNION ALL
    SELECT rank, 23, format('{:,} forward pass{} of a validation run{} within the recorded steps, between backward '
        || 'passes whose gradients add up: the numbers are of both', n_validated, if(n_validated = 1, '', 'es'),
        if(n_validated = 1, 's', ''))
    FROM processes WHERE n_validated > 0
    UNION ALL
    SELECT rank, 20, format('Outside the recording a step takes {:.1f} ms, the recorded ones that count {:.1f} ms: '
        || 'they are not like most of the run', bare_ns / 1e6, step_ns / 1e6)
    -- Marks of the program may hold a part of what the collector took for a step.
    FROM warmup JOIN bare USING (rank) WHERE bare_ns > 1.5 * greatest(step_ns, profiled_ns)
)
SELECT min(rank) AS rank, 'Doubt: ' || arg_min(text, rank)
    || CASE WHEN count(*) > 1 THEN format(' (rank {}; so have {} more)', min(rank), count(*) - 1)
        -- That a processor is contended names the rank itself.
        WHEN any_value(n) > 1 AND place <> 5 THEN format(' (rank {}, one of {})', min(rank), any_value(n)) ELSE '' END
    || '.' AS text
FROM doubt CROSS JOIN job WHERE text IS NOT NULL GROUP BY place
ORDER BY place
