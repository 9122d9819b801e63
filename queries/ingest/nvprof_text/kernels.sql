-- title = "nvprof text: kernels"
-- doc = "Rows with a grid, named as printed (nvprof may cut or mangle names)."
SELECT id, start_ns, dur_ns, name, correlation, device, context, stream, grid_x, grid_y, grid_z, block_x,
    block_y, block_z,
    registers, shared_bytes
FROM activity WHERE "table" = 'kernels'
