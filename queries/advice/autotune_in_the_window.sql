-- title = "Algorithm search in a short run"
-- doc = """Convolution kernels that run in the first iterations and never again. The bound is their time, less what
-- overlaps work that started earlier on the device, once per run. Warm-up steps count here, though other numbers leave
-- them out: the run takes that time all the same."""
-- why = """The library tried several algorithms at the start; in a short run that search is part of what is measured,
-- and where shapes change it comes again with every new shape."""
-- cost = """Nothing if the search is only kept out of the measurement; a fixed choice may be slower than what a search
-- finds."""
-- unless = """The run is long: then the search pays for itself, and only the measurement should leave out the first
-- steps."""
-- per = "run"
-- needs = ["kernels", "kernel_names", "conv_calls", "conv_iterations"]
-- [fix]
-- pytorch = """measure after a few warm-up steps; torch.backends.cudnn.benchmark = False for runs of a few steps or of
-- changing shapes"""
-- tensorflow = """measure after a few warm-up steps; TF_CUDNN_USE_AUTOTUNE=0 for runs of a few steps or of changing
-- shapes"""
-- jax = """measure after the first steps; keep the result of the search with
-- XLA_FLAGS=--xla_gpu_dump_autotune_results_to=FILE and --xla_gpu_load_autotune_results_from=FILE"""
-- mxnet = """measure after a few warm-up batches; MXNET_CUDNN_AUTOTUNE_DEFAULT=0 for runs of a few steps or of changing
-- shapes"""
-- any = """leave the first steps out of the measurement; switch the search off for runs of a few steps or of changing
-- shapes"""
-- [params]
-- search_first = { type = "BIGINT", default = 1, doc = "iterations in which a search may run" }
-- search_conv_pct = { type = "DOUBLE", default = 5, doc = """found above this share of the time in convolution calls,
-- in percent""" }
WITH lost AS (
    SELECT t.rank, t.name, t.iteration, t.n_iterations, t.role, b.alone_ns AS own_ns,
        EXISTS (FROM step_times s WHERE s.rank = t.rank AND s.step = b.step AND s.is_warmup) AS is_warmup
    FROM conv_trials t JOIN busy b ON b.id = t.id
    WHERE t.last_iteration <= $search_first AND t.n_iterations >= $search_first + 2
), conv AS (
    SELECT rank, sum(total_ns) AS conv_ns FROM conv_calls GROUP BY rank
), kinds AS (
    SELECT rank, name, count(*) AS launches, sum(own_ns) AS own_ns, max(n_iterations) AS n_iterations,
        max(iteration) AS iteration, bool_or(role = 'main') AS is_main, bool_and(is_warmup) AS is_warmup
    FROM lost GROUP BY rank, name
)
SELECT k.rank,
    if(sum(launches) = 1, '1 launch of 1 kernel runs',
        sum(launches) || ' launches of ' || if(count(*) = 1, '1 kernel', count(*) || ' kernels') || ' run')
        || format(' {} and never again, for {:.3f} ms in all{}.',
        if(max(iteration) = 0, format('before the first of {} steps', max(n_iterations)),
            format('in the first of {} iterations', max(n_iterations))), sum(own_ns) / 1e6,
        if(bool_and(is_warmup), '; means of steps leave that step out, the time of the run does not', '')) AS problem,
    'The longest is ' || arg_max(name, own_ns) AS place, sum(own_ns) AS saving_ns,
    'medium: names that are gone after the start; start-up work of another kind could look the same' AS confidence,
    list(format('{}: {} launches, {:.3f} ms', name, launches, own_ns / 1e6)
        ORDER BY own_ns DESC, name) AS evidence
FROM kinds k JOIN conv v USING (rank)
GROUP BY k.rank
-- A transform or helper alone may be gone for other reasons; with a product it was part of the trial.
HAVING bool_or(is_main) AND 100.0 * sum(own_ns) > $search_conv_pct * any_value(v.conv_ns)
ORDER BY k.rank
