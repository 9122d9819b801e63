-- title = "rocpd: kernel functions"
-- doc = "Registers are those of the vector unit."
-- into = "temp"
-- tables = ["rocpd_info_kernel_symbol"]
-- [source]
-- id = "BIGINT"
-- kernel_name = "NAME"
-- display_name = "NAME"
-- arch_vgpr_count = "BIGINT"
SELECT DISTINCT ON (id) id, coalesce(nullif(display_name, ''), kernel_name) AS name, arch_vgpr_count AS registers
FROM source ORDER BY id, "row"
