-- title = "Blocks of memory by address over the step of the peak"
-- doc = """Each block from its allocation to its release, at its address, within the step of the peak (without steps,
-- in the recording) on the device with the highest peak. Ranges of addresses above 1 MiB that hold nothing then are
-- narrowed to that. Memory without an address of its own is not drawn."""
-- cannot = "No allocations with addresses were recorded."
-- top = 10
-- [chart]
-- kind = "blocks"
-- x = "from_ns"
-- until = "until_ns"
-- y = "place_bytes"
-- size = "size_bytes"
-- block = "kind"
-- label = "owner"
-- [params]
-- most = { type = "BIGINT", default = 20000, doc = "blocks at most, those with most bytes times time" }
-- [columns]
-- rank = "process of the job"
-- device = "device number; empty for the host"
-- kind = "kind of data"
-- owner = "what it is: name of a noted tensor, else its layer, else the operator or program that allocated it"
-- line = "line of the user's own code that allocated it"
-- from_ns = "when it is allocated, since the capture's origin; not before the step begins"
-- until_ns = "when it is released; not after the step ends"
-- address = "its address"
-- place_bytes = "its address, counted from the lowest, without wide ranges that hold nothing"
-- size_bytes = "its bytes"
WITH top AS (
    FROM memory_peaks ORDER BY peak_bytes DESC, rank, device NULLS FIRST LIMIT 1
), own AS (
    SELECT a.* FROM allocations a JOIN top t ON t.rank = a.rank AND t.device IS NOT DISTINCT FROM a.device
), shown AS (
    SELECT coalesce(any_value(s.start_ns), min(a.allocated_ns), min(a.freed_ns)) AS start_ns,
        greatest(coalesce(any_value(s.end_ns), max(a.freed_ns), max(a.allocated_ns)), coalesce(any_value(t.at_ns), 0))
            AS end_ns
    FROM own a, top t LEFT JOIN step_times s ON s.rank = t.rank AND s.step = t.step
), block AS (
    SELECT a.*, greatest(coalesce(a.allocated_ns, start_ns), start_ns) AS from_ns,
        least(coalesce(a.freed_ns, end_ns), end_ns) AS until_ns
    FROM own a, shown
    WHERE a.address IS NOT NULL AND a.size_bytes > 0 AND coalesce(a.allocated_ns <= end_ns, true)
        AND coalesce(a.freed_ns >= start_ns, true)
), largest AS (
    FROM block ORDER BY CAST(size_bytes AS DOUBLE) * (until_ns - from_ns) DESC, id LIMIT $most
), apart AS (
    SELECT *, greatest(0, address - 1048576 - max(address + size_bytes) OVER (ORDER BY address, id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS unused_bytes
    FROM largest
)
SELECT rank, device, kind, coalesce(label, layer, op_name, program, '(unknown)') AS owner,
    file || ':' || CAST(line AS VARCHAR) AS line, from_ns, until_ns, address,
    CAST(address - min(address) OVER () - coalesce(sum(unused_bytes) OVER (ORDER BY address, id
        ROWS UNBOUNDED PRECEDING), 0) AS BIGINT) AS place_bytes, size_bytes
FROM apart
ORDER BY kind, CAST(size_bytes AS DOUBLE) * (until_ns - from_ns) DESC, id
