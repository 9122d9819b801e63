-- title = "Whether a kernel computes in tf32"
-- doc = """The macro `is_tf32(name)`, by the kernel's name. The instruction s1688 is that of tf32 on Ampere and later
-- devices; on Turing, and where the name says so before or behind it, its operands are of 16 bits. Tensile writes _MX
-- behind the type for AMD's xf32."""
CREATE OR REPLACE MACRO is_tf32(name) AS
    regexp_matches(name, '(?i)tf32|s1688|^Cijk_\w+_S_MX_')
    AND NOT regexp_matches(name,
        '(?i)fp?16_s1688|1688[a-z]*_((optimized|analytic|fixed_channels|few_channels)_)?b?fp?16|turing_|sm_?75')
