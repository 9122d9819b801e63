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
    ('ranked_convs', EXISTS (FROM conv_admissible WHERE place IS NOT NULL),
        'no convolution is of a kind whose usual order was measured (cuDNN in single precision, in two dimensions, '
        || 'without groups)'),
    ('conv_iterations', EXISTS (FROM conv_trials WHERE n_iterations >= 3),
        'no convolution is known to have run in three iterations, so that one could be gone'),
    ('conv_gradients', EXISTS (FROM counted_conv_calls WHERE direction IN ('dgrad', 'wgrad')),
        'the trace holds no gradient of a convolution'),
    ('host_memory_kinds', EXISTS (FROM raw.memcpys WHERE direction IN ('HtoD', 'DtoH')
        AND if(direction = 'HtoD', src_kind, dst_kind) IS NOT NULL),
        'the trace holds no copy whose kind of host memory is recorded'),
    ('copy_sizes', EXISTS (FROM raw.memcpys WHERE size_bytes IS NOT NULL AND direction <> 'memset'),
        'the trace holds no copy whose size is recorded'),
    ('launches', EXISTS (FROM raw.kernels WHERE launch_id IS NOT NULL),
        'no kernel is linked to the call that launched it'),
    ('communication', EXISTS (FROM exchanges), 'the trace holds no communication'),
    ('peaks', EXISTS (FROM device_peaks WHERE is_used AND has_tensor_cores IS NOT NULL),
        'the peaks of the device are not known'),
    ('conv_shapes_or_copies', EXISTS (FROM counted_conv_calls WHERE flop IS NOT NULL)
        OR EXISTS (FROM raw.memcpys WHERE size_bytes IS NOT NULL AND direction = 'DtoH'),
        'the trace records neither shapes of convolutions nor sizes of copies to the host'),
    ('primitives', EXISTS (FROM raw.primitives),
        'the trace holds no primitives of a CPU library (ONEDNN_VERBOSE, or traceview collect)'),
    ('cpu_only', EXISTS (FROM counted WHERE rank NOT IN (SELECT rank FROM raw.kernels)),
        'the trace holds no run on a CPU'),
    ('cpu_threads', EXISTS (FROM processes WHERE threads IS NOT NULL AND cores IS NOT NULL
        AND rank NOT IN (SELECT rank FROM raw.kernels)),
        'the trace holds no run on a CPU whose threads and cores are recorded (traceview collect notes them)'),
    ('simd', EXISTS (FROM processes WHERE simd_bits IS NOT NULL AND used_simd_bits IS NOT NULL),
        'the instruction sets of the processor, or those that its library uses, are not recorded (traceview '
        || 'collect notes them)'),
    ('search_setting', EXISTS (FROM processes WHERE flags->>'$."cudnn.benchmark"' IS NOT NULL
            OR regexp_matches(CAST(environment AS VARCHAR),
                'TF_CUDNN_USE_AUTOTUNE|MXNET_CUDNN_AUTOTUNE_DEFAULT|autotune_level'))
        OR EXISTS (FROM conv_trials WHERE last_iteration <= 1 AND n_iterations >= 3 AND role = 'main')
        OR EXISTS (FROM counted_conv_calls WHERE len(algorithms) > 1),
        'the trace neither records the settings of the library (traceview collect notes them) nor shows a search'),
    ('batch_norms', EXISTS (FROM counted WHERE category = 'batch_norm'), 'the trace holds no batch normalisation'),
    ('shapes', EXISTS (FROM conv_costs) OR EXISTS (FROM matmul_shapes),
        'the trace records no shapes of convolutions or matrix products'),
    ('runtime_calls', EXISTS (FROM raw.api_calls), 'the trace holds no calls of the device''s runtime'),
    ('host_calls', EXISTS (FROM raw.api_calls) OR EXISTS (FROM raw.ops)
        OR EXISTS (FROM raw.ranges WHERE kind <> 'step'),
        'the trace shows nothing that the host did'),
    ('device_size', EXISTS (FROM raw.kernels k JOIN raw.devices d ON d.rank = k.rank AND d.device = k.device
        WHERE k.grid_x IS NOT NULL AND d.n_cores IS NOT NULL),
        'the trace does not record both the grids of kernels and the cores of their device'),
    ('collective_sizes', EXISTS (FROM exchanges WHERE size_bytes IS NOT NULL),
        'the sizes of collectives are not recorded'),
    ('memory_share', EXISTS (FROM raw.counters c JOIN raw.devices d ON d.rank = c.rank AND d.device = c.device
        WHERE c.name IN ('allocated_bytes', 'reserved_bytes') AND d.kind = 'gpu' AND d.memory_bytes > 0),
        'the memory in use or that of the device is not recorded (PyTorch: profile_memory=True)'),
    ('padding_marks', EXISTS (FROM raw.ranges WHERE name LIKE 'traceview.padding: %'),
        'no range tells what is padding; mark each batch with one named "traceview.padding: REAL of PADDED"'),
    ('usage', EXISTS (FROM processes WHERE system_ns IS NOT NULL AND n_recorded > 0),
        'page faults and processor time are not recorded (traceview collect notes them)'),
    ('denormal_counts', EXISTS (FROM processes WHERE n_elements > 0),
        'no trace holds values; traceview collect counts denormals of PyTorch on a CPU, perf stat -e assists.fp '
        || 'the rest'),
    ('data_phase', EXISTS (FROM raw.ranges WHERE kind = 'phase' AND name = 'data'),
        'the trace marks no loading of data')
) t(need, is_there, missing)
ORDER BY need
