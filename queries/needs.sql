-- title = "What the capture holds"
-- doc = "What an advice rule may need: where it is absent, the rule cannot tell, and says why."
-- [columns]
-- need = "name, as in a rule's header"
-- is_there = "whether the capture holds it"
-- missing = "what to say where it does not"
SELECT need, is_there, missing FROM (VALUES
    ('activities', EXISTS (FROM counted), 'nothing with a time ran on a device in this trace'),
    ('kernels', EXISTS (FROM raw.kernels), 'the trace holds no kernels of a device'),
    ('steps', EXISTS (FROM scope WHERE has_steps), 'the trace has no training steps'),
    ('several_steps', EXISTS (FROM scope WHERE n_steps > 1), 'the trace has fewer than two steps that are no warm-up'),
    ('conv_calls', EXISTS (FROM counted_conv_calls), 'no convolution was recognised in this trace'),
    ('conv_shapes', EXISTS (FROM counted_conv_calls WHERE flop IS NOT NULL),
        'the trace records no shapes of convolutions'),
    ('conv_strides', EXISTS (FROM counted_conv_calls WHERE flop IS NOT NULL AND len(stride) > 0),
        'the trace records no stride of convolutions'),
    ('conv_gradients', EXISTS (FROM counted_conv_calls WHERE direction IN ('dgrad', 'wgrad')),
        'the trace holds no gradient of a convolution'),
    ('host_memory_kinds', EXISTS (FROM raw.memcpys WHERE direction IN ('HtoD', 'DtoH')
        AND if(direction = 'HtoD', src_kind, dst_kind) IS NOT NULL),
        'the trace holds no copy whose kind of host memory is recorded'),
    ('copy_sizes', EXISTS (FROM raw.memcpys WHERE size_bytes IS NOT NULL AND direction <> 'memset'),
        'the trace holds no copy whose size is recorded'),
    ('launches', EXISTS (FROM raw.kernels WHERE launch_id IS NOT NULL), 'no kernel is linked to the call that launched it'),
    ('communication', EXISTS (FROM exchanges), 'the trace holds no communication'),
    ('peaks', EXISTS (FROM device_peaks WHERE is_used AND fp32_flop_per_s IS NOT NULL),
        'the peaks of the device are not known'),
    ('data_phase', EXISTS (FROM raw.ranges WHERE kind = 'phase' AND name = 'data'),
        'the trace marks no loading of data')
) t(need, is_there, missing)
ORDER BY need
