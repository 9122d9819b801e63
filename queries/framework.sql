-- title = "Frameworks"
-- doc = """The framework of each rank in lower case, as recorded, else from the namespaces in its kernels' names; and
-- whether the rank used a device, or serves a model."""
-- [columns]
-- rank = "process of the job"
-- framework = "framework, NULL where it is not known"
-- has_device = "whether a kernel or a copy ran on a device"
-- is_engine = "whether it is of an inference engine"
SELECT rank, framework,
    rank IN (SELECT rank FROM raw.kernels UNION SELECT rank FROM raw.memcpys) AS has_device, is_engine
FROM known_frameworks
ORDER BY rank
