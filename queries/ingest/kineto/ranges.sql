-- title = "Kineto: named ranges"
-- doc = "Steps, phases, modules, lines and other annotations; `traceview.*` names are those of our collector."
SELECT
    id, start_ns, greatest(dur_ns, 0) AS dur_ns, pid, tid,
    CASE
        WHEN cat = 'gpu_user_annotation' THEN 'device'
        WHEN name LIKE 'ProfilerStep#%' THEN 'step'
        WHEN name LIKE 'traceview.phase: %' OR name LIKE 'Optimizer.step#%'
            OR name LIKE 'enumerate(DataLoader)#%' THEN 'phase'
        WHEN name LIKE 'traceview.module: %' OR name LIKE 'nn.Module: %' THEN 'module'
        WHEN cat LIKE 'python%' OR name LIKE 'traceview.line: %' OR name LIKE 'traceview.source: %'
            THEN 'python'
        ELSE 'user'
    END AS kind,
    CASE
        WHEN name LIKE 'Optimizer.step#%' AND cat <> 'gpu_user_annotation' THEN 'optimizer'
        WHEN name LIKE 'enumerate(DataLoader)#%' AND cat <> 'gpu_user_annotation' THEN 'data'
        ELSE regexp_replace(name, '^(traceview\.phase: |traceview\.module: |traceview\.line: |traceview\.source: |'
            || 'nn\.Module: )', '')
    END AS name,
    CASE WHEN name LIKE 'Optimizer.step#%' OR name LIKE 'enumerate(DataLoader)#%' THEN name
        WHEN name LIKE 'nn.Module: %' THEN 'nn.Module'
        WHEN name LIKE 'traceview.source: %' THEN 'compiled' END AS domain
FROM event
WHERE goes_to = 'ranges'
