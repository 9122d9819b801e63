-- title = "Frameworks"
-- doc = "The framework of each rank in lower case, as recorded, else from the namespaces in its kernels' names; and whether the rank used a device."
-- [columns]
-- rank = "process of the job"
-- framework = "framework, NULL where nothing tells it"
-- has_device = "whether a kernel or a copy ran on a device"
WITH named AS (
    -- Some profilers write names as the compiler does: _ZN2at6native...
    SELECT rank, CASE WHEN bool_or(regexp_matches(name, '\btensorflow::|^_Z\w*10tensorflow')) THEN 'tensorflow'
        WHEN bool_or(regexp_matches(name, '\bat::native::|^_ZN2at6native')) THEN 'pytorch'
        WHEN bool_or(regexp_matches(name, '\bmxnet::|^_Z\w*5mxnet')) THEN 'mxnet' END AS framework
    FROM (SELECT DISTINCT rank, name FROM raw.kernels) GROUP BY rank
)
SELECT c.rank, coalesce(lower(any_value(c.framework)), any_value(n.framework)) AS framework,
    c.rank IN (SELECT rank FROM raw.kernels UNION SELECT rank FROM raw.memcpys) AS has_device
FROM captures c LEFT JOIN named n USING (rank)
GROUP BY c.rank
ORDER BY c.rank
