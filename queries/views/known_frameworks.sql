-- doc = """Framework of each rank: as recorded, else as the namespaces in the names of its kernels tell
-- (classify/frameworks.toml)."""
-- [columns]
-- rank = "process of the job"
-- framework = "in lower case; NULL where it is not known"
-- name = "as it is written; NULL where it is not known"
WITH named AS (
    SELECT k.rank, arg_min(f.name, f.position) AS name, arg_min(f.title, f.position) AS title
    FROM (SELECT DISTINCT rank, name FROM raw.kernels) k JOIN names.framework f ON regexp_matches(k.name, f.kernels)
    WHERE k.rank IN (SELECT rank FROM captures WHERE framework IS NULL) GROUP BY k.rank
)
SELECT c.rank, coalesce(lower(any_value(c.framework)), any_value(n.name)) AS framework,
    coalesce(any_value(c.framework), any_value(n.title)) AS name
FROM captures c LEFT JOIN named n USING (rank)
GROUP BY c.rank
