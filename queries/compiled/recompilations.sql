-- title = "Why code was compiled again"
-- doc = "One row per compilation after a function's first, in the order of time."
-- cannot = """No function was compiled again, as far as is recorded: `traceview collect` notes it, and a trace alone
-- only marks graphs that are called."""
-- leave_out = ["rank", "graph"]
-- [columns]
-- rank = "process of the job"
-- graph = "number of the graph, as in the trace"
-- function = "file, line and function"
-- reason = "which guard of the graph before it failed"
-- compile_ns = "time of compiling"
-- is_in_steps = "whether it was during recorded steps that count"
-- failed = "reason of a failure, after which calls that its graphs do not fit run operator by operator"
SELECT rank, graph, coalesce(format('{}({}): {}', file, line, function), 'frame ' || frame) AS function,
    coalesce(reason, 'not recorded') AS reason, compile_ns, is_in_steps, failed
FROM compiled_graphs WHERE attempt > 0
ORDER BY start_ns NULLS LAST, rank, frame, attempt
