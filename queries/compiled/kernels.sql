-- title = "Kernels made of operators"
-- doc = """Most device time first. Its name says which ATen operators a kernel computes. A kernel's time is not divided
-- among them; its module is the innermost around the compiled code, of which it may compute parts of several inside."""
-- cannot = """This trace has no kernel that Inductor made: of C++ on a CPU only recordings of `traceview collect` do,
-- or those with TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE=1."""
-- leave_out = ["kernel", "code_file", "line", "code_config", "kind", "bytes"]
-- rest = ["calls", "busy_ns", "share_pct"]
-- [columns]
-- kernel = "as recorded"
-- operators = "ATen operators that it computes; with ... where its name has no room for more"
-- kind = "pointwise, reduction, persistent reduction, foreach, template, or C++"
-- module = "module around it"
-- line = "file and line of the last of the operators, where lines were recorded"
-- pass = "forward or backward; not known of a kernel without an operator, as in a graph"
-- code_config = "configuration that it was compiled with, where recorded: sizes of blocks, warps, stages"
-- code_file = "file of its code, as recorded"
-- calls = "{per step|in the recording} and rank"
-- busy_ns = "device time {per step and rank|in the recording, per rank}, overlaps counted once"
-- share_pct = "of all device time"
-- bytes = "a call: each argument once"
-- [headings]
-- share_pct = "of device time"
-- [fractions]
-- calls = "calls/step"
SELECT kernel, array_to_string(operators, ' ') || if(is_whole, '', ' ...') AS operators, kind, module,
    if(file IS NULL, NULL, format('{}({})', file, line)) AS line,
    CASE WHEN is_backward THEN 'backward' WHEN NOT is_backward THEN 'forward' END AS pass, code_config, code_file,
    sum(1.0 / per_rank) AS calls, CAST(sum(step_alone_ns / per_rank) AS BIGINT) AS busy_ns,
    100.0 * sum(step_alone_ns / per_rank) / nullif((SELECT sum(alone_ns / per_rank) FROM totals
        WHERE is_counted OR is_carried), 0) AS share_pct,
    avg(bytes) AS bytes
FROM fused_ops WHERE is_counted
GROUP BY ALL
ORDER BY busy_ns DESC, kernel, module, line
