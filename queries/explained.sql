-- title = "How much of the idle time is explained"
-- doc = """One line: idle time of the devices as a share of their steps (without steps of the recording), how much
-- of it has a cause, and how much has none."""
WITH device AS (
    SELECT sum(idle_ns) AS idle_ns, sum(step_ns) AS step_ns, sum(active_ns) AS active_ns,
        bool_or(has_steps) AS has_steps,
        count(*) > count(idle_ns) AS is_unknown, EXISTS (FROM raw.kernels) OR EXISTS (FROM raw.memcpys) AS is_gpu
    FROM account
), cause AS (
    SELECT cause, sum(idle_ns) AS idle_ns FROM idle_causes GROUP BY cause
), named AS (
    SELECT sum(idle_ns) FILTER (cause <> 'unknown') AS known_ns,
        string_agg(format('{} {:.1f} %', cause, 100.0 * idle_ns / (SELECT step_ns FROM device)), ', '
            ORDER BY idle_ns DESC, cause) FILTER (cause <> 'unknown') AS causes
    FROM cause
)
SELECT if(is_unknown, 'Idle time is not known: a log has no time stamps, and shares of the recording are of its '
    || 'primitives laid end to end.', format('{} idle: {:.1f} % of {}; {:.1f} % explained{}, {:.1f} % unexplained.',
    if(is_gpu, (SELECT upper(kind) FROM accelerator), 'CPU'),
    100.0 * idle_ns / step_ns, if(has_steps, 'the step', 'the recording'), 100.0 * coalesce(known_ns, 0) / step_ns,
    coalesce(' (' || causes || ')', ''), 100.0 * (idle_ns - coalesce(known_ns, 0)) / step_ns)) AS text
FROM device, named WHERE step_ns > 0 AND (is_gpu OR active_ns > 0)
