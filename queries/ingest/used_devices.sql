-- title = "The devices that did something"
-- doc = "By number; NULL among them where a row names none."
SELECT device FROM stage.kernels UNION SELECT device FROM stage.memcpys ORDER BY 1
