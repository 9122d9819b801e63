-- title = "Instruction sets"
-- record = "a run on a CPU with ONEDNN_VERBOSE or traceview collect"
-- missing = """the instruction sets of the processor, or those that its library uses, are not recorded (traceview
-- collect notes them)"""
SELECT EXISTS (FROM processes WHERE simd_bits IS NOT NULL AND used_simd_bits IS NOT NULL)
