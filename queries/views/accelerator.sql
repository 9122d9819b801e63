-- doc = "One row: what the devices that are no CPU are called."
-- in_memory = true
-- [columns]
-- kind = "gpu, tpu or mtia"
SELECT DISTINCT coalesce((SELECT max(kind) FROM raw.devices WHERE kind = 'tpu'),
    (SELECT 'mtia' FROM raw.events WHERE category = 'mtia_ccp_events'
        OR phase = 'M' AND name = 'process_labels' AND contains(args, '"MTIA ') LIMIT 1), 'gpu') AS kind
FROM raw.captures
