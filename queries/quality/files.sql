-- title = "Files"
-- doc = "Events found in each file; kept and dropped add up to the events found."
-- cannot = "This capture names no file."
-- leave_out = ["clock", "tool", "repaired"]
-- [columns]
-- rank = "process of the job"
-- source = "file"
-- format = "format it was read as"
-- tool = "profiler that wrote it"
-- clock = "how its times were converted to the clock of the capture"
-- events = "found in the file"
-- kept = "became rows"
-- repaired = "kept after a repair"
-- dropped = "could not be read"
SELECT rank, source, format, concat_ws(' ', tool, tool_version) AS tool, clock,
    n_events AS events, n_kept AS kept, coalesce(n_repaired, 0) AS repaired, coalesce(n_dropped, 0) AS dropped
FROM captures
ORDER BY rank, source, format
