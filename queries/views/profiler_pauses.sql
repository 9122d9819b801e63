-- doc = """Time that the profiler itself takes from the program. CUPTI calls overhead also what the driver does: it
-- compiles, loads code, or waits until a full command buffer has room, as in a run without a profiler."""
SELECT rank, name, start_ns, dur_ns FROM raw.events
WHERE category = 'profiler_overhead' OR category = 'overhead'
    AND regexp_matches(name, '(?i)buffer flush|instrumentation|resource|activity buffer|uvm activity')
