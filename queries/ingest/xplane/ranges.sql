-- title = "XPlane: named spans"
-- doc = """Everything else with a duration. Lines of a device that only repeat others (XLA Ops, TensorFlow Name Scope)
-- are spans of kind device."""
SELECT
    id, start_ns, dur_ns, pid, line_id AS tid,
    CASE
        WHEN device IS NOT NULL AND line_name = 'Steps' THEN 'step'
        WHEN device IS NOT NULL THEN 'device'
        WHEN step_num IS NOT NULL THEN 'step'
        WHEN plane = '/host:python-tracer' OR name LIKE '$%' THEN 'python'
        ELSE 'user'
    END AS kind,
    CASE WHEN step_num IS NOT NULL AND device IS NULL THEN name || ' ' || step_num ELSE name END AS name,
    CASE WHEN device IS NOT NULL THEN plane || ' ' || line_name END AS domain
FROM placed WHERE goes = 'ranges'
