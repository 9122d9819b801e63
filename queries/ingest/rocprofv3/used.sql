-- title = "rocprofv3: kernel symbols that ran"
-- doc = "Distinct in this part of the file."
SELECT DISTINCT dispatch_info.kernel_id AS kernel_id FROM record WHERE buffer = 'kernel_dispatch'
