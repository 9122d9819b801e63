-- title = "Frameworks"
-- doc = """The framework of each rank in lower case, as recorded, else from the namespaces in its kernels' names; and
-- whether the rank used a device."""
-- [columns]
-- rank = "process of the job"
-- framework = "framework, NULL where it is not known"
-- has_device = "whether a kernel or a copy ran on a device"
WITH named AS (
    SELECT k.rank, arg_min(f.name, f.position) AS framework
    FROM (SELECT DISTINCT rank, name FROM raw.kernels) k JOIN names.framework f ON regexp_matches(k.name, f.kernels)
    WHERE k.rank IN (SELECT rank FROM captures WHERE framework IS NULL) GROUP BY k.rank
)
SELECT c.rank, coalesce(lower(any_value(c.framework)), any_value(n.framework)) AS framework,
    c.rank IN (SELECT rank FROM raw.kernels UNION SELECT rank FROM raw.memcpys) AS has_device
FROM captures c LEFT JOIN named n USING (rank)
GROUP BY c.rank
ORDER BY c.rank
