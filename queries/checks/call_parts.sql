-- doc = "Convolution calls whose parts do not add up to the call, or of which one is negative."
-- [columns]
-- off_ns = "how far the parts are from the whole"
SELECT rank, op_id, op_name, total_ns,
    main_ns + transform_ns + layout_ns + bias_ns + activation_ns + helper_ns - total_ns AS off_ns
FROM conv_calls
WHERE off_ns <> 0 OR least(main_ns, transform_ns, layout_ns, bias_ns, activation_ns, helper_ns) < 0
    OR end_ns < start_ns OR groups < 1 OR flop < 0
ORDER BY rank, op_id
