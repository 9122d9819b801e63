-- title = "Options of frameworks for it"
-- doc = """No framework takes a plan as a whole. Some choose an algorithm layer by layer in the program; most can only
-- be told to search for the fastest themselves, in how much memory, and which to leave out. A trace tells what they
-- choose then."""
-- cannot = "No timed convolution algorithms of a GPU to choose from."
-- [params]
-- cap_bytes = { type = "BIGINT", default = -1, doc = "workspace that any pass may use; -1 for no cap" }
-- [columns]
-- framework = "framework"
-- setting = "what to set"
-- does = "what that does"
-- cannot = "what it cannot do of this plan"
SELECT framework, replace(replace(setting, '{MiB}', CAST(greatest($cap_bytes, 0) // 1048576 AS VARCHAR)), '{bytes}',
        CAST(greatest($cap_bytes, 0) AS VARCHAR)) AS setting, does, cannot
FROM names.control
WHERE (NOT contains(setting, '{') OR $cap_bytes >= 0)
    AND EXISTS (FROM algorithm_times WHERE is_timed AND device IS DISTINCT FROM 'cpu')
ORDER BY position
