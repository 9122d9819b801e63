-- title = "XPlane: operators behind XLA instructions"
-- doc = "One row per module and instruction. Metadata without a slash names an argument of the program, not an operator."
SELECT module, instruction, any_value(op_name) AS op_name FROM hlo WHERE contains(op_name, '/') GROUP BY ALL
