-- title = "Convolutions whose usual order was measured"
-- missing = """for no convolution is the usual order of algorithms known (only for cuDNN in single precision, two
-- dimensions, without groups)"""
SELECT EXISTS (FROM conv_admissible WHERE place IS NOT NULL)
