-- doc = """Time that a change could remove from the steps that count, row by row: the part of a row that nothing
-- earlier on any device of its rank covers, or the idle time before it on its device, averaged over the devices of the
-- rank. A moment belongs to one row, so that what several changes would take counts once. Rules of the same time read
-- it here (first_layer_gradient, unfused_bias_activation, host_bound, data_loading, device_allocations,
-- exposed_communication by the views of each). Two costs are wider than the rules: layout is every conversion, also
-- those that layout_in_convolutions and layout_between_operators leave out because the model needs them (transposes
-- without convolutions, filters of TensorFlow); copies are all between host and device, of which pageable_copies,
-- tiny_copies and repeated_copies name those with an option of their own."""
-- materialize = true
-- [columns]
-- cost = "what would be gone: a name that whatif/prediction.sql lists, each moment of idle time in one of them"
-- rank = "process of the job"
-- id = "the row of activities"
-- is_idle = "whether it is the idle stretch before the row"
-- saved_ns = "time that would be gone, per step"
WITH every AS MATERIALIZED (
    SELECT id, rank, kind, category, op_phase, start_ns, rank_alone_ns / per AS saved_ns FROM counted
), gap AS MATERIALIZED (
    SELECT g.id, g.rank, g.launch_ns, g.data_ns, g.allocation_ns,
        greatest(c.n_steps, 1) * greatest(c.n_devices, 1) AS per
    FROM idle_gaps g JOIN scope c ON c.rank = g.rank WHERE g.launch_ns + g.data_ns + g.allocation_ns > 0
)
SELECT 'layout' AS cost, rank, id, false AS is_idle, saved_ns FROM every WHERE category = 'layout_transpose'
UNION ALL
SELECT 'firstlayer', rank, id, false, saved_ns FROM every WHERE id IN (SELECT id FROM input_gradients WHERE is_data)
UNION ALL
SELECT 'copies', rank, id, false, saved_ns FROM every
WHERE kind = 'copy' AND category IN ('memcpy_htod', 'memcpy_dtoh')
UNION ALL
SELECT 'pointwise', rank, id, false, saved_ns FROM unfused
UNION ALL
SELECT 'launches', rank, id, true, launch_ns / per FROM gap WHERE launch_ns > 0
UNION ALL
SELECT 'data', rank, id, true, data_ns / per FROM gap WHERE data_ns > 0
UNION ALL
-- On a CPU the host is the device: what loading computes in the step's own thread keeps the step waiting, too.
SELECT 'data', e.rank, e.id, false, e.saved_ns FROM every e WHERE e.op_phase = 'data'
    AND e.rank NOT IN (SELECT rank FROM raw.kernels) AND EXISTS (FROM awaited_data a WHERE a.rank = e.rank
        AND e.start_ns >= a.start_ns AND e.start_ns < a.start_ns + a.dur_ns)
UNION ALL
SELECT 'allocations', rank, id, true, allocation_ns / per FROM gap WHERE allocation_ns > 0
UNION ALL
SELECT 'communication', rank, id, false, step_exposed_ns / per FROM exchanges WHERE is_counted
