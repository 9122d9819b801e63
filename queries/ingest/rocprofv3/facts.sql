-- title = "rocprofv3: symbols behind the kernels"
-- doc = "Several symbols can have one name."
SELECT count(DISTINCT s.kernel_id) AS n_kernel_ids, count(DISTINCT s.mangled) AS n_mangled_names
FROM symbol s SEMI JOIN used u ON u.kernel_id = s.kernel_id
