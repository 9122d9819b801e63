-- title = "Convolutions whose usual order was measured"
-- missing = """no convolution is of a kind whose usual order was measured (cuDNN in single precision, in two
-- dimensions, without groups)"""
SELECT EXISTS (FROM conv_admissible WHERE place IS NOT NULL)
