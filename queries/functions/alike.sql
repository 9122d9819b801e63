-- title = "Name that modules of one kind share"
-- doc = """The macro `alike(module)`: a module's path with * for the numbers of blocks, so that modules that do the
-- same work have one name: blocks.*.attention, Owlv2Attention_*."""
CREATE OR REPLACE MACRO alike(module) AS regexp_replace(module, '(^|[._/])\d+($|[._/])', '\1*\2', 'g')
