-- title = "Settings of the algorithm search"
-- record = "settings that traceview collect notes"
-- missing = "the trace neither records the settings of the library (traceview collect notes them) nor shows a search"
SELECT EXISTS (FROM processes WHERE flags->>'$."cudnn.benchmark"' IS NOT NULL
    OR regexp_matches(CAST(environment AS VARCHAR),
    'TF_CUDNN_USE_AUTOTUNE|MXNET_CUDNN_AUTOTUNE_DEFAULT|autotune_level'))
    OR EXISTS (FROM conv_trials WHERE last_iteration <= 1 AND n_iterations >= 3 AND role = 'main')
    OR EXISTS (FROM counted_conv_calls WHERE len(algorithms) > 1)
