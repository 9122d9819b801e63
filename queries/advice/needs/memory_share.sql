-- title = "Memory in use and of the device"
-- record = "memory (PyTorch: profile_memory=True)"
-- missing = "the memory in use or that of the device is not recorded (PyTorch: profile_memory=True)"
SELECT EXISTS (FROM raw.counters c JOIN raw.devices d ON d.rank = c.rank AND d.device = c.device
    WHERE c.name IN ('allocated_bytes', 'reserved_bytes') AND d.kind = 'gpu' AND d.memory_bytes > 0)
