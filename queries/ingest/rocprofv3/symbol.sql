-- title = "rocprofv3: kernel symbols"
-- doc = "Kernels are recorded by number; the formatted name is demangled."
SELECT kernel_id, coalesce(nullif(formatted_kernel_name, ''), kernel_name) AS name, kernel_name AS mangled,
    arch_vgpr_count AS registers
FROM record WHERE kernel_id IS NOT NULL
