-- title = "What was measured of convolutions on a CPU"
-- doc = "Rows of algorithm_times that a plan can be made from, in the order in which they were measured."
-- [columns]
-- number = "of the row"
SELECT layer, model, direction, batch, in_channels, height, width, out_channels, filter_height, filter_width, stride_h,
    stride_w, pad_h, pad_w, dilation_h, dilation_w, groups, dtype, device, threads, backend, backend_version,
    implementation, algorithm, layout_in, layout_out, wall_ns, wall_low_ns, wall_high_ns, cpu_ns, n,
    greatest(workspace_bytes, 0) AS workspace_bytes, greatest(prepare_ns, 0) AS prepare_ns,
    greatest(layout_ns, 0) AS layout_ns, flop, error, status, reason, source, others_pct, proof
FROM timed_shapes
WHERE status IN ('measured', 'cannot', 'failed', 'wrong') AND direction IN ('fprop', 'dgrad', 'wgrad')
    AND layer IS NOT NULL AND backend IS NOT NULL AND implementation IS NOT NULL AND batch IS NOT NULL
    AND dtype IS NOT NULL AND device IS NOT NULL
ORDER BY number
