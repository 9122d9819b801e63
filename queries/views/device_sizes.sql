-- doc = """How many threads each device can hold: as the trace records it, else from the vendor's datasheet by product
-- name (classify/devices.toml). Devices of which neither says it are left out."""
-- materialize = true
-- [columns]
-- rank = "process of the job"
-- device = "device number"
-- name = "product name"
-- n_cores = "multiprocessors or compute units"
-- max_threads_per_core = "threads that one of them can hold at once"
-- size_from = "recorded, or the datasheet"
WITH sized AS (
    SELECT k.rank, k.device, k.name, if(k.name_from = 'recorded' OR starts_with(k.name_from, '--gpu '), k.sheet, NULL)
            AS sheet, coalesce(d.n_cores, sheet.n_cores) AS n_cores,
        coalesce(d.max_threads_per_core, sheet.max_threads_per_core) AS max_threads_per_core,
        if(d.n_cores IS NOT NULL AND d.max_threads_per_core IS NOT NULL, 'recorded', sheet.source) AS size_from
    FROM known_devices k
    LEFT JOIN raw.devices d ON d.rank = k.rank AND d.device IS NOT DISTINCT FROM k.device
)
SELECT rank, device, name, n_cores, max_threads_per_core, size_from
FROM sized WHERE n_cores * max_threads_per_core > 0
