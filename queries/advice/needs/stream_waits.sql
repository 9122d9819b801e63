-- title = "What waits for a transfer"
-- record = "synchronisation events (cuda_sync; kineto's enable_cuda_sync_events)"
-- missing = "which work waits for a transfer on another stream is not recorded"
-- doc = "Waits of streams are recorded, or nothing communicates on a stream of its own."
SELECT EXISTS (FROM exchanges) AND (EXISTS (FROM raw.events WHERE category = 'cuda_sync' AND name LIKE '%Wait%')
    OR NOT EXISTS (
        SELECT rank, device, stream FROM performed WHERE kind = 'kernel' GROUP BY ALL
        HAVING bool_and(category = 'communication')
    ))
