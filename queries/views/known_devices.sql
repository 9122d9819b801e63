-- doc = """Every device that is recorded or that a kernel ran on, and which product it is taken for: what --gpu
-- says, else the recorded name, else where there is none the product that stands for its architecture, as recorded
-- or as the names of its kernels show it (traceview/classify/devices.toml)."""
-- materialize = true
-- [columns]
-- rank = "process of the job"
-- device = "device number"
-- name = "product name; where none is known what is known of its architecture"
-- kind = "gpu or cpu"
-- product = "what its peak rates are looked up by; NULL where unknown"
-- name_from = "recorded, or what the product rests on"
-- sheet = """its datasheet: the first of classify/devices.toml whose pattern the product's name matches; none for a
-- laptop's product, which shares the name of a faster and larger one for desktops, for a part of a device (MIG) or a
-- virtual one, and where another number of multiprocessors is recorded than the sheet has"""
WITH used AS (
    SELECT DISTINCT rank, device FROM raw.kernels
), device AS (
    SELECT rank, device, name, kind, architecture, n_cores FROM raw.devices
    UNION ALL
    -- Kineto numbers AMD's kernels by agents, among which are the processors, and the list of devices from 0.
    SELECT u.rank, u.device, o.name, 'gpu', NULL, NULL FROM used u
    LEFT JOIN (SELECT rank, any_value(name) AS name FROM raw.devices WHERE kind = 'gpu' GROUP BY rank
        HAVING count(DISTINCT name) = 1) o ON o.rank = u.rank
    WHERE NOT EXISTS (FROM raw.devices d WHERE d.rank = u.rank AND d.device IS NOT DISTINCT FROM u.device)
), nameless AS (
    -- ROCm's tools give the processor where the product's name would be.
    SELECT rank, device, coalesce(nullif(architecture, ''), name) AS chip FROM device
    WHERE kind IS DISTINCT FROM 'cpu' AND (name IS NULL OR trim(name) = '' OR regexp_matches(name, '^gfx\w+$'))
), kernel AS (
    SELECT DISTINCT n.rank, n.device, k.name FROM nameless n JOIN raw.kernels k
        ON k.rank = n.rank AND k.device IS NOT DISTINCT FROM n.device
), word AS (
    SELECT DISTINCT k.name, a.position FROM (SELECT DISTINCT name FROM kernel) k
    JOIN names.architecture a ON regexp_matches(k.name, a.pattern)
), shown AS (
    SELECT k.rank, k.device, max(w.position) AS position, arg_max(k.name, (w.position, k.name)) AS kernel
    FROM kernel k JOIN word w USING (name) GROUP BY k.rank, k.device
), amd AS (
    -- HIP gives its devices compute capabilities too, of other numbers.
    SELECT DISTINCT rank, device FROM kernel WHERE regexp_matches(name, '^Cijk_|^miopen|gfx9|__amd_')
), told AS (
    SELECT n.rank, n.device, a.name AS architecture, a.product,
        format('taken for {}, as its architecture is {}', a.product, n.chip) AS name_from
    FROM nameless n JOIN names.architecture a ON regexp_matches(n.chip, a.chip)
    WHERE starts_with(n.chip, 'gfx') OR (n.rank, n.device) NOT IN (SELECT (rank, device) FROM amd)
    QUALIFY row_number() OVER (PARTITION BY n.rank, n.device ORDER BY a.position DESC) = 1
), guessed AS (
    SELECT s.rank, s.device, a.name AS architecture, a.product,
        format('taken for {}, as kernels are of {} ({}); --gpu names another', a.product, a.name,
            s.kernel[:60]) AS name_from
    FROM shown s JOIN names.architecture a USING (position)
), known AS (
    SELECT d.rank, d.device,
        coalesce(h.name, if(n.rank IS NULL OR t.rank IS NULL AND g.rank IS NULL, nullif(trim(d.name), ''), NULL),
            if(t.rank IS NULL, g.architecture || if(starts_with(g.architecture, 'gfx'), '', ' or later'),
                t.architecture))
            AS name,
        d.kind, if(h.name IS NULL, d.n_cores, NULL) AS n_cores,
        coalesce(h.name, if(n.rank IS NULL, d.name, coalesce(t.product, g.product))) AS product,
        CASE WHEN h.name IS NOT NULL THEN '--gpu ' || h.name WHEN n.rank IS NULL THEN 'recorded'
            ELSE coalesce(t.name_from, g.name_from) END AS name_from
    FROM device d
    LEFT JOIN nameless n ON n.rank = d.rank AND n.device IS NOT DISTINCT FROM d.device
    LEFT JOIN told t ON t.rank = d.rank AND t.device IS NOT DISTINCT FROM d.device
    LEFT JOIN guessed g ON g.rank = d.rank AND g.device IS NOT DISTINCT FROM d.device
    LEFT JOIN (SELECT CAST(getvariable('device') AS VARCHAR) AS name) h ON d.kind IS DISTINCT FROM 'cpu'
), sheet AS (
    -- By product: there are few, and to match them takes longest.
    SELECT d.product, k FROM (SELECT DISTINCT product FROM known) d JOIN names.device k
        ON regexp_matches(d.product, '(?i)' || k.pattern)
    WHERE NOT regexp_matches(d.product, '(?i)\b(laptop|mobile|max-q|mig|grid)\b|-\d+[abcq](me)?$')
    QUALIFY row_number() OVER (PARTITION BY d.product ORDER BY k.position) = 1
)
SELECT known.* EXCLUDE (n_cores), if(known.n_cores <> sheet.k.n_cores, NULL, sheet.k) AS sheet
FROM known LEFT JOIN sheet USING (product)
