-- title = "Which marks of steps there are, and whether anything of the host was recorded"
-- doc = """A kind of step is a name without its number, on one thread. `other_kind` is what ranges that are not steps
-- are in this trace."""
SELECT
    (SELECT count(DISTINCT (regexp_replace(name, '\d+$', ''), domain, pid, tid)) FROM stage.ranges WHERE kind = 'step')
        AS n_kinds,
    EXISTS (FROM stage.ranges WHERE kind = 'phase' AND name = 'optimizer' AND domain IS DISTINCT FROM 'graph')
        AS has_optimizer,
    if(EXISTS (FROM stage.ranges WHERE kind = 'user'), 'user', 'nvtx') AS other_kind,
    EXISTS (FROM stage.ranges) OR EXISTS (FROM stage.api_calls) OR EXISTS (FROM stage.ops) AS has_host
