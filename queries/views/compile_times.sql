-- doc = """Compiling that a log tells of: Theano's total with its parts, and the calls of a profiler's printed summary
-- that load, link or compile code for a device. None of it has a place in time."""
-- empty_without = ["summaries"]
-- types = """rank INTEGER, name VARCHAR, network VARCHAR, calls BIGINT, total_ns BIGINT, is_whole BOOLEAN"""
-- [columns]
-- network = "function that was compiled, where the log names it"
-- is_whole = "whether it is all of the compiling of this function, not a part of another row"
SELECT rank, name, network, calls, total_ns, name = 'Total compile' AS is_whole
-- Theano repeats all functions in one that it calls their sum.
FROM summaries WHERE section = 'Compiling' AND NOT coalesce(starts_with(network, 'Sum of all'), false)
UNION ALL
SELECT rank, name, NULL, calls, total_ns, true
FROM summaries WHERE scope IS NULL AND regexp_matches(section, '(?i)api')
    AND regexp_matches(name, '(?i)module(load|unload)|library(load|unload)|nvrtc|hiprtc|link(create|add|complete)')
