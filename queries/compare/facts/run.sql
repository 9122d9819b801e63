-- doc = "One row: what ran where, how long a step took, and what must be equal for two runs to be ranked."
-- [columns]
-- framework = "framework and its version, where recorded"
-- format = "trace formats"
-- device = "devices on which something ran"
-- ranks = "processes"
-- has_steps = "whether numbers are per step; else they are of the whole recording"
-- is_log = "whether all there is are average times that a log gives"
-- steps = "steps compared (of several ranks, steps with one number are one); of a log those that it averages over"
-- step_ns = """mean step time over ranks and steps; the whole recording's without steps; of a log that of its network,
-- or of all its networks"""
-- sd_ns = "standard deviation of the step times, each rank's from its own mean"
-- busy_ns = "time in which a device was busy, per step and rank, averaged over the devices of a rank"
-- span_ns = "from the first to the last thing a device did, mean over ranks"
-- span_busy_pct = "busy, of that"
-- batch = """tokens of an iteration of an inference engine, mean (requests where its marks tell no tokens); else as
-- collect noted it, if that divides the first dimension of what the convolutions read, else that dimension, in a log
-- too, else rows of the first product (NULL where attention or a recurrent layer tells that those are no samples);
-- times the passes whose gradients a step adds up, or the sum over them where they differ"""
-- samples = """that of all ranks; NULL where they send to each other: stages of a pipeline have no samples of their
-- own, nor may ranks of an inference engine"""
-- passes = "forward and backward passes of a step whose gradients it adds up: gradient accumulation, micro-batches"
-- precision = "types of the convolutions and products; tf32 where a kernel's name says so"
-- has_backward = "whether gradients are computed; NULL where the trace cannot tell"
-- trained_filters = """of the filters those with a gradient, of themselves or of what they read; NULL where the trace
-- is not PyTorch's, or records no shapes"""
-- has_update = "whether parameters are updated; NULL where the trace cannot tell"
-- kinds = "layers by kind in a log that tells their passes; NULL for everything else"
-- filters = "filters of the convolutions, with calls per pass, mean over the ranks that have them"
-- products = "shapes of the fully connected layers, with calls per pass, mean over the ranks that have them"
-- parameters = "of the layers whose shapes are recorded, a shape with several calls in a pass counted once per call"
-- flop = """of the direct method, of convolutions, products, attention and recurrent layers per step and rank, with
-- what is computed again; NULL without shapes"""
-- is_served = "whether the steps are iterations of an inference engine"
-- sample_flop = """of the forward convolutions for one sample, by the direct method; without convolutions of the
-- forward products and recurrent layers, for the whole step where the batch is not known; NULL where a shape is not
-- recorded, and of an inference engine, whose products are of several sizes"""
-- is_cpu = "whether a CPU did the work"
-- threads = "threads that the framework computes with, of all ranks"
-- cores = "cores that these may use"
-- recorded_ns = "time from the start of recording to its end"
-- recorded_steps = "steps meanwhile"
-- cpu_ns = "processor time meanwhile, of all ranks"
-- preempted = "how often meanwhile another process took the processor away from a rank, mean over ranks"
-- is_contended = "whether others had the processors while its operators waited (view contention); NULL if not recorded"
-- noted_parameters = "parameters of the model as traceview collect counted them"
WITH ranked AS (
    -- Ranks count alike, however many steps each has, as in the parts of a step.
    SELECT step, rank, dur_ns, avg(dur_ns) OVER (PARTITION BY rank) AS mean_ns FROM chosen_steps
), varied AS (
    SELECT avg(dur_ns - mean_ns) AS off_ns FROM ranked GROUP BY step
), timed AS (
    SELECT count(*) AS steps, stddev_samp(off_ns) AS sd_ns,
        (SELECT avg(mean_ns) FROM (SELECT DISTINCT rank, mean_ns FROM ranked)) AS step_ns
    FROM varied
), noted AS (
    -- What traceview collect wrote of each process.
    SELECT c.rank, any_value(p.value) AS facts FROM raw.captures c, json_each(c.options, '$.ranks') p
    WHERE TRY_CAST(p.value->>'$.rank' AS BIGINT) = c.rank GROUP BY c.rank
), told AS (
    SELECT CAST(avg(TRY_CAST(facts->>'$.usage.involuntary_switches' AS BIGINT)) AS DOUBLE) AS preempted,
        max(TRY_CAST(facts->>'$.model.parameters' AS BIGINT)) AS parameters,
        any_value(coalesce(facts->>'$.model.autocast_dtype', facts->>'$.model.parameter_dtypes')) AS dtypes,
        max(TRY_CAST(facts->>'$.model.batch' AS BIGINT)) AS batch
    FROM noted
), used AS (
    SELECT CAST(sum(threads) AS BIGINT) AS threads, max(cores) AS cores,
        CAST(avg(recorded_ns) AS DOUBLE) AS recorded_ns, max(n_recorded) AS recorded_steps,
        CAST(sum(user_ns + system_ns) AS DOUBLE) AS cpu_ns
    FROM processes
), logged AS (
    SELECT count(*) > 0 AS is_log, count(*) FILTER (is_step) AS n_networks,
        CAST(max(n) FILTER (is_step) AS BIGINT) AS n,
        sum(total_ns) FILTER (is_step) AS total_ns, max(sd_ns) FILTER (is_step) AS sd_ns,
        CASE WHEN bool_or(backward_ns IS NOT NULL OR total_ns > forward_ns) THEN true
            WHEN bool_and(is_told) THEN false END AS has_backward,
        bool_and(is_told) AND NOT any_value(is_alternative) AS is_told
    FROM (SELECT *, layer IS NULL AND NOT is_alternative AS is_step FROM chosen_averages)
), printed AS (
    -- Convolutions of a log that have several batches tell none.
    SELECT if(count(DISTINCT batch) = 1, any_value(batch), NULL) AS batch
    FROM (SELECT TRY_CAST(regexp_extract(shape, '^(\d+)x\d+x\d+x\d+ ', 1) AS BIGINT) AS batch FROM layer_times), logged
    WHERE logged.is_log
), kind AS (
    SELECT string_agg(format('{} layers ({})', kind, n), '; ' ORDER BY kind) AS names
    FROM (SELECT kind, count(*) AS n FROM chosen_averages, logged
        WHERE kind IN ('conv', 'gemm', 'pooling', 'lrn', 'batch_norm') AND logged.is_told GROUP BY kind)
), span AS (
    SELECT avg(span_ns) AS span_ns,
        (SELECT 100.0 * sum(busy_ns) / nullif(sum(window_ns), 0) FROM windows WHERE position = 0) AS busy_pct
    FROM (SELECT rank, max(last_ns) - min(first_ns) AS span_ns FROM totals GROUP BY rank)
), work AS (
    SELECT sum(own_ns * weight) AS busy_ns, bool_or(category = 'optimizer') AS updates FROM chosen_rows
), added AS (
    SELECT coalesce(any_value(passes), 1) AS passes, any_value(samples) AS samples FROM step_passes
), windowed AS (
    SELECT max(n_ranks) AS n_ranks FROM chosen_windows
), weighed AS (
    SELECT rank, any_value(weight) AS weight FROM chosen_rows GROUP BY rank
), cost_row AS (
    SELECT c.*, w.weight FROM op_costs c JOIN weighed w USING (rank)
    WHERE NOT EXISTS (FROM chosen_steps) OR (c.rank, c.step) IN (SELECT (rank, step) FROM chosen_steps)
), again AS (
    -- Checkpointing computes for the backward pass again: the model has these layers once.
    SELECT o.call_id FROM cost_row c JOIN attributed.op o ON o.id = c.op_id WHERE c.is_recompute
), forward AS (
    SELECT filter, mode(input_shape[1] ORDER BY input_shape[1]) AS batch, any_value(parameters) AS parameters,
        sum(weight) * any_value(n_ranks) / count(DISTINCT rank) / any_value(passes) AS calls,
        if(count(flop / input_shape[1]) = count(*), sum(flop / input_shape[1] * weight) / sum(weight), NULL)
            AS call_flop
    FROM chosen_calls c ANTI JOIN again a ON a.call_id = c.op_id, added, windowed
    WHERE direction = 'fprop' AND filter IS NOT NULL GROUP BY filter
), convs AS (
    SELECT string_agg(if(has_steps, format('{} ({:.0f})', filter, calls), filter), '; ' ORDER BY filter) AS filters,
        CAST(arg_max(batch, (calls, filter)) AS BIGINT) AS batch,
        sum(parameters * if(has_steps, round(calls), 1)) AS parameters,
        if(count(call_flop) = count(*), sum(call_flop * if(has_steps, round(calls), 1)), NULL) AS sample_flop
    FROM forward, (SELECT EXISTS (FROM chosen_steps) AS has_steps)
), product AS (
    SELECT m.*, w.weight FROM matmul_shapes m JOIN weighed w USING (rank)
    WHERE NOT EXISTS (FROM chosen_steps) OR (m.rank, m.step) IN (SELECT (rank, step) FROM chosen_steps)
), layer AS (
    SELECT format('{}x{}', k, n) AS shape, arg_min(m, op_id) AS m, min(op_id) AS first_id,
        any_value(parameters) AS parameters, mode(flop ORDER BY flop) AS flop,
        sum(weight) * any_value(n_ranks) / count(DISTINCT rank) / any_value(passes) AS calls
    FROM product, added, windowed WHERE NOT coalesce(is_backward, false) AND batch = 1 GROUP BY shape
), linear AS (
    SELECT string_agg(if(has_steps, format('{} ({:.0f})', shape, calls), shape), '; ' ORDER BY shape) AS products,
        if(EXISTS (FROM product WHERE batch > 1) OR EXISTS (FROM op_costs WHERE family IN ('attention', 'rnn')), NULL,
            arg_min(m, first_id)) AS batch,
        sum(parameters * if(has_steps, round(calls), 1)) AS parameters,
        sum(flop * if(has_steps, round(calls), 1)) AS flop
    FROM layer, (SELECT EXISTS (FROM chosen_steps) AS has_steps)
), served AS (
    SELECT CAST(round(avg(coalesce(i.tokens, i.requests))) AS BIGINT) AS batch
    FROM chosen_steps c JOIN step_times t ON t.rank = c.rank AND t.step = c.step
    JOIN iterations i ON i.rank = c.rank AND i.iteration = c.step
    WHERE t.found_by = 'iterations, from the marks of the inference engine'
), sampled AS (
    -- Frames or views of a sample may be folded into the batch of the convolutions. Where that is no multiple of the
    -- noted one, the last batch is smaller, or what the model takes has no batch in front.
    SELECT coalesce(served.batch, if(convs.batch % told.batch <> 0, convs.batch,
        coalesce(told.batch, convs.batch, printed.batch, linear.batch))) AS batch
    FROM served, convs, told, printed, linear
), recurrent AS (
    SELECT if(count(reason) > 0, NULL, coalesce(sum(matrix_flop * weight) * any_value(n_ranks) / count(DISTINCT rank)
        / any_value(passes), 0)) AS flop
    FROM cost_row, added, windowed WHERE family = 'rnn' AND direction = 'forward' AND NOT is_recompute
), typed AS (
    SELECT dtype FROM chosen_calls UNION ALL SELECT dtype FROM product
    UNION ALL SELECT unnest(regexp_extract_all(dtypes, '\w+')) FROM told
    WHERE NOT EXISTS (SELECT dtype FROM chosen_calls WHERE dtype IS NOT NULL)
        AND NOT EXISTS (SELECT dtype FROM product WHERE dtype IS NOT NULL)
), replica AS (
    SELECT if(EXISTS (FROM exchanges WHERE is_counted AND what IN ('send', 'recv', 'send_recv'))
        OR count(*) > 1 AND EXISTS (FROM served WHERE served.batch > 0), NULL, count(*)) AS replicas
    FROM raw.ranks
), precision AS (
    SELECT string_agg(DISTINCT name, ', ' ORDER BY name) AS names
    FROM (SELECT CASE WHEN arithmetic(dtype) = 'fp32' AND EXISTS (FROM chosen_rows
                WHERE category IN ('conv', 'gemm') AND is_tf32(name)) THEN 'tf32'
            WHEN arithmetic(dtype) IN ('fp32', 'bf16', 'fp16', 'fp64', 'fp8', 'fp4', 'int8')
                THEN arithmetic(dtype) END AS name
        FROM typed)
), pass AS (
    SELECT EXISTS (FROM raw.ops WHERE name LIKE 'aten::%') AS is_torch,
        EXISTS (FROM raw.ops WHERE is_backward)
            OR EXISTS (FROM chosen_calls WHERE direction IN ('dgrad', 'wgrad')) AS is_backward,
        EXISTS (FROM chosen_calls) AND NOT EXISTS (FROM chosen_calls WHERE direction IS NULL) AS is_told
), trained AS (
    SELECT if(count(*) = count(filter), count(DISTINCT filter), NULL) AS filters FROM chosen_calls
    WHERE direction IN ('dgrad', 'wgrad') OR contains(op_name, 'backward')
), place AS (
    SELECT string_agg(DISTINCT d.name, ', ' ORDER BY d.name) FILTER (d.kind <> 'cpu'
            AND (d.rank, d.device) IN (SELECT (rank, device) FROM raw.kernels UNION SELECT (rank, device)
                FROM raw.memcpys)) AS gpus,
        string_agg(DISTINCT d.name, ', ' ORDER BY d.name) FILTER (d.kind = 'cpu') AS cpus
    FROM raw.devices d
), source AS (
    SELECT string_agg(DISTINCT concat_ws(' ', framework, framework_version), ', '
        ORDER BY concat_ws(' ', framework, framework_version))
            FILTER (framework IS NOT NULL) AS framework,
        string_agg(DISTINCT format, ', ' ORDER BY format) AS format
    FROM raw.captures
)
SELECT source.framework, source.format,
    CASE WHEN EXISTS (FROM raw.kernels) OR EXISTS (FROM raw.memcpys) THEN coalesce(place.gpus, 'GPU')
        WHEN EXISTS (FROM chosen_rows) THEN coalesce(place.cpus, 'CPU') END AS device,
    (SELECT count(*) FROM raw.ranks) AS ranks, timed.steps > 0
        OR (logged.n_networks = 1 AND logged.n IS NOT NULL) AS has_steps,
    logged.is_log, if(logged.n_networks = 1, coalesce(logged.n, 0), timed.steps) AS steps,
    CAST(coalesce(timed.step_ns, span.span_ns, logged.total_ns) AS DOUBLE) AS step_ns,
    coalesce(timed.sd_ns, if(logged.n_networks = 1, CAST(logged.sd_ns AS DOUBLE), NULL)) AS sd_ns,
    CAST(work.busy_ns AS DOUBLE) AS busy_ns,
    CAST(span.span_ns AS DOUBLE) AS span_ns, CAST(span.busy_pct AS DOUBLE) AS span_busy_pct,
    coalesce(added.samples, sampled.batch * passes) AS batch,
    coalesce(added.samples, sampled.batch * passes) * replicas AS samples, passes,
    precision.names AS precision,
    CASE WHEN logged.is_log THEN logged.has_backward WHEN pass.is_backward THEN true WHEN pass.is_torch
        OR pass.is_told THEN false END
        AS has_backward,
    if(pass.is_torch AND convs.filters IS NOT NULL, trained.filters, NULL) AS trained_filters,
    CASE WHEN work.updates THEN true WHEN pass.is_torch THEN false END AS has_update,
    kind.names AS kinds, convs.filters, linear.products,
    CAST(coalesce(convs.parameters, 0) + coalesce(linear.parameters, 0) AS DOUBLE) AS parameters,
    CAST((SELECT nullif(sum(matrix_flop * weight), 0) FROM cost_row) AS DOUBLE) AS flop,
    served.batch IS NOT NULL AS is_served,
    CAST(if(served.batch IS NOT NULL, NULL, if(convs.filters IS NULL,
        nullif(coalesce(linear.flop, 0) + recurrent.flop, 0)
        / coalesce(sampled.batch, 1), convs.sample_flop * convs.batch / sampled.batch)) AS DOUBLE)
        AS sample_flop,
    NOT EXISTS (FROM raw.kernels) AND NOT EXISTS (FROM raw.memcpys) AS is_cpu,
    used.threads, used.cores, used.recorded_ns, used.recorded_steps, used.cpu_ns,
    told.preempted, (SELECT bool_or(c.is_contended) FROM contention c) AS is_contended,
    told.parameters AS noted_parameters
FROM timed, logged, printed, kind, span, work, convs, linear, sampled, recurrent, precision, pass, trained, place,
    source, told, used, added, replica, served
ORDER BY ALL
