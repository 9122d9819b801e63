-- doc = """Calls that compile, link or load code for a device, and spans that compilers mark (torch.compile, XLA). They
-- may lie inside one another."""
-- [columns]
-- rank = "process of the job"
-- step = "step it began in"
-- id = "the call, range or operator"
-- pid = "process that it ran in"
-- tid = "thread that it ran on"
-- name = "its name"
-- start_ns = "start"
-- end_ns = "end"
SELECT rank, step, id, pid, tid, name, start_ns, start_ns + dur_ns AS end_ns FROM raw.api_calls
-- Plain patterns first: of a column in which they occur nowhere, nothing is read.
WHERE (name ILIKE '%load%' OR name ILIKE '%rtc%' OR name ILIKE '%link%' OR name LIKE 'clBuild%')
    AND regexp_matches(name,
    '(?i)module(load|unload)|library(load|unload)|nvrtc|hiprtc|link(create|add|complete)|^clBuildProgram')
UNION ALL
SELECT rank, step, id, pid, tid, name, start_ns, start_ns + dur_ns FROM raw.ranges
WHERE kind NOT IN ('step', 'phase', 'module', 'device', 'python')
    AND regexp_matches(name,
    '(dynamo_timed)|^compile_fx|^(Xla|XLA|Hlo|PjRt\w*::)Compil|^backend_compile|^async_compile|^XlaCompile')
UNION ALL
SELECT rank, step, id, pid, tid, name, start_ns, start_ns + dur_ns FROM raw.ops
WHERE (name LIKE '%ompil%' OR name LIKE '%dynamo_timed%')
    AND regexp_matches(name, '(dynamo_timed)|^compile_fx|XlaCompile|^PjRt\w*::Compile|^backend_compile')
