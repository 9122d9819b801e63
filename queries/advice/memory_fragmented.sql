-- title = "Reserved memory that could not be used"
-- doc = """When most was allocated, much of what the allocator holds was in no use, and it holds much of the device. No
-- bound in time."""
-- why = """Free pieces between used ones are too small for what is asked for, so that the allocator takes more from the
-- device, or fails while there is enough in all."""
-- cost = "Segments that grow need a driver that maps memory (CUDA 11 or later)."
-- unless = "An earlier phase needed more (a larger batch, autotuning): then the memory is only kept."
-- needs = ["reserved_memory"]
-- [fix]
-- pytorch = "PYTORCH_ALLOC_CONF=expandable_segments:True; shapes padded to a few sizes; no empty_cache() in the loop"
-- any = "shapes of a few sizes, and an allocator whose segments can grow"
-- [params]
-- unused_pct = { type = "DOUBLE", default = 25, doc = "found above this share of reserved memory, in percent" }
-- reserved_pct = { type = "DOUBLE", default = 50, doc = "and where this share of the device is reserved, in percent" }
WITH numbered AS (
    SELECT rank, device, start_ns, name, value,
        row_number() OVER (PARTITION BY rank, device, name, start_ns ORDER BY id) AS place
    FROM raw.counters WHERE name IN ('allocated_bytes', 'reserved_bytes') AND device IS NOT NULL
), sample AS (
    SELECT rank, device, start_ns, place, max(value) FILTER (name = 'allocated_bytes') AS allocated_bytes,
        max(value) FILTER (name = 'reserved_bytes') AS reserved_bytes
    FROM numbered GROUP BY rank, device, start_ns, place
), peak AS (
    SELECT s.rank, s.device, arg_max(allocated_bytes, (allocated_bytes, -start_ns, -place)) AS allocated_bytes,
        arg_max(reserved_bytes, (allocated_bytes, -start_ns, -place)) AS reserved_bytes,
        any_value(d.memory_bytes) AS memory_bytes
    FROM sample s JOIN raw.devices d ON d.rank = s.rank AND d.device = s.device AND d.kind = 'gpu'
    WHERE s.allocated_bytes IS NOT NULL AND s.reserved_bytes IS NOT NULL AND d.memory_bytes > 0
    GROUP BY s.rank, s.device
), unused AS (
    SELECT *, reserved_bytes - allocated_bytes AS unused_bytes FROM peak
    WHERE 100.0 * (reserved_bytes - allocated_bytes) > $unused_pct * reserved_bytes
        AND 100.0 * reserved_bytes > $reserved_pct * memory_bytes
    QUALIFY row_number() OVER (PARTITION BY rank ORDER BY unused_bytes DESC, device) = 1
)
SELECT rank, format('When most was allocated, {:.2f} GB of {:.2f} GB reserved were in no use ({:.1f} %).',
        unused_bytes / 1e9, reserved_bytes / 1e9, 100.0 * unused_bytes / reserved_bytes) AS problem,
    'Device ' || CAST(device AS VARCHAR) AS place, CAST(NULL AS DOUBLE) AS saving_ns,
    'medium: why it was in no use is not recorded' AS confidence,
    [format('allocated {:.2f} GB, reserved {:.2f} GB, of {:.2f} GB on the device', allocated_bytes / 1e9,
        reserved_bytes / 1e9, memory_bytes / 1e9)] AS evidence
FROM unused
ORDER BY rank
