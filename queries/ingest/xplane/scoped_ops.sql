-- title = "XPlane: operators with the module around them"
-- doc = """The path in the operator's name: TensorFlow's `model/conv1/Conv2D:Conv2D`, JAX's `jit(step)/jvp(conv1)/op`.
-- TensorFlow names a gradient, or the reading of a variable, after an operator or after the module around it: the path
-- that other operators lie in is the module. Version 1 (also Keras' of it:
-- `training/SGD/gradients/gradients/conv1/Conv2D_grad/...`) says which is the operator: what stands before `_grad`,
-- behind the scope in which gradients were asked for (`Train/net/gradients/Train/net/conv1/Conv2D_grad/...`).
-- What its optimizers do to a variable (`SGD/update_conv1/filters/...`) is in no layer. Calls of functions, which keep
-- their name where they are inlined, and JAX's loops and branches are not part of a path; nor is an operator that
-- others only hold constants of (`ArgMax/dimension`)."""
WITH named AS (
    SELECT name, regexp_matches(name, '(^|/)gradient(_tape|s)/|ReadVariableOp$|/read:Identity$|:VariableV2$')
        AND NOT regexp_matches(name, '_grad/') AS is_inner,
        CASE WHEN regexp_matches(name, '^p?jit\(')
            THEN trim(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(name,
                '(^|[/(])(p?jit|pmap|checkpoint|remat\w*|custom_jvp_call|custom_vjp_call)\([^()]*\)', '\1', 'g'),
                '(transpose|jvp|vmap|remat|checkpoint)\(', '', 'g'), '[()]', '', 'g'), '//+', '/', 'g'),
                '(^|/)((while/(body|cond)|cond/branch_\d+_fun|closed_call|checkpoint|rematted_computation)/)+',
                '\1', 'g'), '/')
            -- What moves values between devices and functions, and what yields the batches, is in no layer.
            WHEN regexp_matches(name, '^_(send|recv|Arg|Retval)|:(_Send|_Recv|_Arg|_Retval|Placeholder\w*|\w*Dataset\w*'
                || '|\w*Iterator\w*|Optional\w*)$') THEN ''
            ELSE regexp_replace(regexp_replace(name,
                '^(ConstantFolding/)?((Stateful)?PartitionedCall(_\d+)?/)*(training(_\d+)?/\w+/)?'
                    || '((.*/)?gradient(_tape|s)(_\d+)?/)*', ''),
                '_grad/.*', '') END AS path
    FROM (SELECT DISTINCT coalesce(module_hierarchy, name) AS name FROM stage.ops)
), around AS (
    SELECT *, CASE WHEN contains(path, '/') THEN trim(regexp_replace(path, '/[^/]*$', ''), '/') END AS module FROM named
), own AS (
    SELECT regexp_replace(path, ':[A-Za-z_]\w*$', '') FROM around
), holding AS (
    -- Modules in which something is computed.
    SELECT module FROM around WHERE module IS NOT NULL AND NOT is_inner AND NOT regexp_matches(name,
        ':(Const|Identity|Cast|Shape|Pack|ReadVariableOp|VarIsInitializedOp|VarHandleOp|Placeholder\w*)$')
), scoped AS (
    SELECT name, nullif(CASE
        WHEN regexp_matches(name, '/update_.*/\w*Apply\w+(:|$)') THEN ''
        WHEN module IN (FROM own) AND module NOT IN (FROM holding)
            THEN CASE WHEN contains(module, '/') THEN regexp_replace(module, '/[^/]*$', '') END
        WHEN NOT is_inner OR module IN (SELECT module FROM around WHERE NOT is_inner) THEN module
        WHEN contains(module, '/') THEN regexp_replace(module, '/[^/]*$', '')
    END, '') AS scope
    FROM around
)
SELECT o.* REPLACE (s.scope AS module_hierarchy) FROM stage.ops o
LEFT JOIN scoped s ON s.name = coalesce(o.module_hierarchy, o.name)
