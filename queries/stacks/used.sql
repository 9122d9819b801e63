-- title = "Operators whose stacks are asked for"
-- doc = "Those in which something ran on a device or, without devices, ran itself."
SELECT DISTINCT op_id FROM activities WHERE op_id IS NOT NULL
