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
WITH sheet AS (
    SELECT d.product, k.n_cores, k.max_threads_per_core, k.source
    FROM (SELECT DISTINCT product FROM known_devices) d JOIN names.device k
        ON regexp_matches(d.product, '(?i)' || k.pattern)
    -- A laptop's product shares the name of a larger one for desktops.
    WHERE NOT regexp_matches(d.product, '(?i)\b(laptop|mobile|max-q)\b')
    QUALIFY row_number() OVER (PARTITION BY d.product ORDER BY k.position) = 1
), matched AS (
    SELECT d.rank, d.device, k.n_cores, k.max_threads_per_core, k.source
    FROM known_devices d JOIN sheet k USING (product)
    WHERE d.name_from = 'recorded' OR starts_with(d.name_from, '--gpu ')
), sized AS (
    SELECT k.rank, k.device, k.name, coalesce(d.n_cores, m.n_cores) AS n_cores,
        coalesce(d.max_threads_per_core, m.max_threads_per_core) AS max_threads_per_core,
        if(d.n_cores IS NOT NULL AND d.max_threads_per_core IS NOT NULL, 'recorded', m.source) AS size_from
    FROM known_devices k
    LEFT JOIN raw.devices d ON d.rank = k.rank AND d.device IS NOT DISTINCT FROM k.device
    LEFT JOIN matched m ON m.rank = k.rank AND m.device IS NOT DISTINCT FROM k.device
)
SELECT rank, device, name, n_cores, max_threads_per_core, size_from
FROM sized WHERE n_cores * max_threads_per_core > 0
