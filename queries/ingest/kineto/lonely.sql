-- title = "Kineto: ends without their other end go to no table of spans"
-- doc = "An event that begins one is meant for the table of its category until all ends have been seen."
UPDATE event SET goes_to = 'events' WHERE ph = 'B'
