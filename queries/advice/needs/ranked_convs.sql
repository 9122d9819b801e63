-- title = "Convolutions whose usual order was measured"
-- record = "training with these operators"
-- missing = """for no convolution is the usual order of algorithms known (only for cuDNN in single precision, two
-- dimensions, without groups)"""
SELECT EXISTS (FROM conv_admissible WHERE place IS NOT NULL)
