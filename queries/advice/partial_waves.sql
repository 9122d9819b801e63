-- title = "Last waves of blocks that leave cores idle"
-- doc = """Products and convolutions with more blocks than the device holds at once, and fewer in the last wave than it
-- has cores (multiprocessors). The bound takes every wave to last as long as a full one: the time of such kernels,
-- times the share of places for blocks that stay empty, and no more than their time beyond the least that the peaks of
-- the device allow; less what overlaps work that started earlier on the device. Persistent kernels (one block takes
-- tile after tile) and those whose blocks start in clusters are left out, products of attention that is not one kernel,
-- and grids below one wave: `small_grids` looks at these."""
-- why = """A tile of the result is a block. Once all full waves are done, the last tiles keep some cores busy, and the
-- others wait for them."""
-- cost = "Another batch size trains differently; tuning takes minutes before the first step."
-- unless = """Work on other streams fills the idle cores, or sizes change from step to step. Smaller tiles fill the
-- last wave and load more data: time both."""
-- needs = ["kernels", "resident_blocks"]
-- sees = "graphs"
-- removes = "partial_waves"
-- [fix]
-- pytorch = """a batch, a width or a number of channels that fills whole waves (the evidence says how many blocks do);
-- torch.compile(mode="max-autotune") or torch.backends.cudnn.benchmark = True to time other tiles and split-K"""
-- tensorflow = "a batch or width that fills whole waves; TF_CUDNN_USE_AUTOTUNE=1 or tf.function(jit_compile=True)"
-- jax = "a batch or width that fills whole waves; --xla_gpu_autotune_level=4"
-- any = "a batch or width that fills whole waves, or other tiles"
-- [params]
-- waves_step_pct = { type = "DOUBLE", default = 1, doc = "found above this share of the step, in percent" }
WITH call AS (
    SELECT m.op_id, least(1, f.floor_ns / nullif(f.own_ns, 0)) AS floor
    FROM op_floors f JOIN op_calls m ON m.call_id = f.op_id WHERE f.floor_ns IS NOT NULL
), kernel AS (
    SELECT c.rank, c.name, coalesce(c.layer, c.op_name, '(no operator)') AS place, c.mean_ns / c.per AS own_ns,
        1 / c.per AS calls, c.step_ns, w.*, coalesce(f.floor, 0) AS floor
    FROM counted c JOIN waves w ON w.id = c.id LEFT JOIN call f ON f.op_id = c.op_id
    WHERE coalesce(c.op_id NOT IN (
        SELECT op_id FROM op_calls WHERE call_id IN (SELECT op_id FROM unfused_attention)), true)
), kinds AS (
    SELECT rank, name, alike(place) AS place, blocks, resident, waves, n_cores, sum(calls) AS calls,
        sum(own_ns) AS own_ns, any_value(step_ns) AS step_ns,
        waves > 1 AND in_last < n_cores AS is_partial,
        sum(own_ns * least(1 - blocks / (1.0 * waves * n_cores * resident), 1 - floor)) AS lost_ns,
        sum(own_ns * least(1 - blocks / (n_cores * ceil(1.0 * blocks / n_cores)), 1 - floor)) AS sure_ns
    FROM kernel GROUP BY ALL
)
SELECT rank,
    format('{:.1f} products and convolutions take {:.3f} ms and leave cores idle in their last wave.',
        sum(calls) FILTER (is_partial), sum(own_ns) FILTER (is_partial) / 1e6) AS problem,
    'Mostly under ' || nullif(arg_max(place, lost_ns) FILTER (is_partial), '(no operator)') AS place,
    sum(lost_ns) FILTER (is_partial) AS saving_ns,
    format('low: if a core is as fast with one block as with all that it holds, {:.3f} ms; which is so is not recorded',
        sum(sure_ns) FILTER (is_partial) / 1e6) AS confidence,
    list(format('{} under {}: {:.1f} calls of {} blocks, {:.3f} ms; {} cores hold {} each, the last of {} waves has {}',
        name, place, calls, blocks, own_ns / 1e6, n_cores, resident, waves, blocks - (waves - 1) * n_cores * resident)
        ORDER BY lost_ns DESC, name, place, blocks) FILTER (is_partial)[:9] || list_filter([
        format('{:.1f} calls, {:.3f} ms, are persistent or start in clusters: their waves are not known',
            sum(calls) FILTER (waves IS NULL), sum(own_ns) FILTER (waves IS NULL) / 1e6)], lambda x: x IS NOT NULL)
        AS evidence
FROM kinds GROUP BY rank
HAVING 100.0 * sum(lost_ns) FILTER (is_partial) > $waves_step_pct * any_value(step_ns)
ORDER BY rank
