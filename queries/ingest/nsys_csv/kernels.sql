-- title = "nsys stats CSV: kernels"
-- doc = "Rows of cuda_gpu_trace that are not copies."
SELECT id, start_ns, dur_ns, name, correlation, device, context, stream, grid_x, grid_y, grid_z, block_x,
    block_y, block_z,
    registers, shared_bytes
FROM activity WHERE NOT is_copy
