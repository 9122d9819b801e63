-- doc = """A row for each allocation and each release, in their order, with what is allocated after it. What was there
-- when recording began comes first, without a time."""
-- empty_without = ["raw.allocations"]
-- types = """rank INTEGER, device BIGINT, at_ns BIGINT, number BIGINT, id BIGINT, kind VARCHAR, bytes BIGINT,
-- sum_bytes BIGINT, place BIGINT"""
-- [columns]
-- number = "number of the event, by which those of one time are ordered"
-- id = "the allocation"
-- bytes = "its bytes, below zero for a release"
-- sum_bytes = "bytes allocated on the device after it"
-- place = "place among the events of the device"
SELECT rank, device, at_ns, number, id, kind, bytes,
    TRY_CAST(sum(bytes) OVER (PARTITION BY rank, device ORDER BY at_ns NULLS FIRST, number) AS BIGINT) AS sum_bytes,
    row_number() OVER (PARTITION BY rank, device ORDER BY at_ns NULLS FIRST, number, bytes) AS place
FROM (
    SELECT rank, device, allocated_ns AS at_ns, id AS number, id, kind, size_bytes AS bytes FROM allocations
    UNION ALL
    SELECT rank, device, freed_ns, freed_id, id, kind, -size_bytes FROM allocations WHERE freed_ns IS NOT NULL
)
