-- title = "Reserved and not allocated"
-- doc = """Memory that the allocator holds and no tensor uses. At the peak of what is allocated it is what could not be
-- used when it was needed most: pieces that are too small, or kept for other streams."""
-- cannot = "No samples of both allocated and reserved memory were recorded."
-- leave_out = ["largest_free_bytes", "at_ns"]
-- [headings]
-- unused_pct = "of reserved"
-- memory_pct = "of device memory"
-- [columns]
-- rank = "process of the job"
-- device = "device number"
-- at_ns = "when most was allocated, since the capture's origin"
-- allocated_bytes = "allocated then"
-- reserved_bytes = "reserved then"
-- unused_bytes = "reserved and not allocated then"
-- unused_pct = "of reserved memory"
-- most_reserved_bytes = "reserved at most, at any time"
-- most_unused_bytes = "reserved and not allocated at most, at any time"
-- largest_free_bytes = "the largest free block at the end, where segments are known"
-- memory_pct = "reserved at most, of the device's memory"
WITH numbered AS (
    SELECT rank, device, start_ns, name, value,
        row_number() OVER (PARTITION BY rank, device, name, start_ns ORDER BY id) AS place
    FROM counters WHERE name IN ('allocated_bytes', 'reserved_bytes') AND device IS NOT NULL
), sample AS (
    SELECT rank, device, start_ns, place, max(value) FILTER (name = 'allocated_bytes') AS allocated_bytes,
        max(value) FILTER (name = 'reserved_bytes') AS reserved_bytes
    FROM numbered GROUP BY rank, device, start_ns, place
), peak AS (
    SELECT rank, device, arg_max({at_ns: start_ns, allocated: allocated_bytes, reserved: reserved_bytes},
            (allocated_bytes, -start_ns, -place)) AS it, max(reserved_bytes) AS most_reserved_bytes,
        max(reserved_bytes - allocated_bytes) AS most_unused_bytes
    FROM sample WHERE allocated_bytes IS NOT NULL AND reserved_bytes > 0 GROUP BY rank, device
)
SELECT p.rank, p.device, it.at_ns, it.allocated AS allocated_bytes, it.reserved AS reserved_bytes,
    it.reserved - it.allocated AS unused_bytes, 100.0 * unused_bytes / it.reserved AS unused_pct, most_reserved_bytes,
    most_unused_bytes, (SELECT max(TRY_CAST(value AS BIGINT)) FROM counters c WHERE c.rank = p.rank
        AND c.device = p.device AND c.name = 'largest_free_bytes') AS largest_free_bytes,
    100.0 * most_reserved_bytes / nullif(d.memory_bytes, 0) AS memory_pct
FROM peak p LEFT JOIN raw.devices d ON d.rank = p.rank AND d.device = p.device
ORDER BY p.rank, p.device
