-- doc = """Kernels on tensor cores, of those that reports per step count, whose names say that they load fewer than 16
-- bytes at a time (align1 to align4 of half precision, align1 and align2 of TF32), and attention for heads or masks
-- that are not aligned. Kernels of single and double precision load one value at a time anyway."""
-- empty_without = ["raw.kernels"]
-- types = """rank INTEGER, id BIGINT, name VARCHAR, op_id BIGINT, place VARCHAR, start_ns BIGINT, mean_ns DOUBLE,
-- per BIGINT, step_ns BIGINT"""
-- [columns]
-- place = "its layer, else its operator"
-- mean_ns = "as in counted"
-- per = "what is divided by for a number per step"
SELECT rank, id, name, op_id, coalesce(layer, op_name, '(no operator)') AS place, start_ns, mean_ns, per, step_ns
FROM counted
WHERE kind = 'kernel' AND name IN (
    SELECT name FROM (SELECT DISTINCT name FROM raw.kernels WHERE name LIKE '%align%')
    WHERE regexp_matches(name, 'tensorop_(f16_|bf16_|h\d|s[\dx]+[a-z]+_((optimized|analytic)_)?b?f16_)'
        || '.*_align[124](\D|$)|tensorop_(tf32_)?s1688.*_align[12](\D|$)|fmha_.*_notaligned'))
