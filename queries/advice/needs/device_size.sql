-- title = "Grids and cores"
-- record = "a GPU whose size and peaks are known"
-- missing = "the trace does not record both the grids of kernels and the cores of their device"
SELECT EXISTS (FROM raw.kernels k JOIN raw.devices d ON d.rank = k.rank AND d.device = k.device
    WHERE k.grid_x IS NOT NULL AND d.n_cores IS NOT NULL)
