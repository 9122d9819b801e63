"""Facts of a model and of one of its inputs, in words that every framework shares.

Invariant: nothing of the program is kept alive or changed; what is not known is None.
"""

import contextlib
import weakref

from traceview_inject.python import product

# Shapes are looked for this deep in lists and dictionaries of a call's arguments.
MAX_DEPTH = 4


class Model:
    """Collects what the `model` of `rank-NNNN.meta.json` says: name, parameters, types, batch and input."""

    def __init__(self):
        self.name = None
        self.owner = lambda: None
        self.parameters = None
        self.variables = []
        self.dtypes = set()
        self.batch = self.input = self.autocast_dtype = None

    def see_owner(self, owner):
        """An object with `trainable_variables` that is trained."""
        self.owner = weakref.ref(owner)

    def see_variables(self, variables):
        """All parameters as arrays of some kind; the largest set seen is the model."""
        sized = [variable for variable in variables if shape_of(variable) is not None]
        count = sum(product(shape_of(variable)) for variable in sized)
        if sized and count > (self.parameters or 0):
            self.parameters = count
            self.dtypes = {dtype_of(variable) for variable in sized}
            with contextlib.suppress(TypeError):  # Not everything can be referred to weakly.
                self.variables = [weakref.ref(variable) for variable in sized]

    def arrays(self):
        """The parameters as arrays of NumPy, as they are now; those that are gone are left out."""
        owner = self.owner()
        known = [reference() for reference in self.variables] if owner is None else owner.trainable_variables
        for variable in known:
            if variable is not None:
                convert = getattr(variable, "numpy", None) or getattr(variable, "asnumpy", None)
                yield convert() if convert is not None else variable

    def see_arguments(self, values):
        """The first array with a shape among a call's arguments is the input."""
        if self.input is None:
            found = first_array(list(values))
            if found is not None:
                shape = shape_of(found)
                self.input = {
                    "shape": [None if size is None else int(size) for size in shape],
                    "dtype": dtype_of(found),
                }
                self.batch = self.batch or self.input["shape"][0]

    def facts(self):
        """All of it as a dictionary, None where no model was seen."""
        owner = self.owner()
        if owner is not None:
            self.name, self.parameters = type(owner).__name__, None
            self.see_variables(owner.trainable_variables)
        if self.name is None and self.parameters is None and self.input is None:
            return None
        return {
            "name": self.name,
            "parameters": self.parameters,
            "parameter_dtypes": sorted(self.dtypes),
            "autocast_dtype": self.autocast_dtype,
            "batch": self.batch,
            "input": self.input,
        }


def first_array(value, depth=0):
    """The first thing with a shape of at least one dimension in nested lists, tuples and dictionaries; or None."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        inner = (first_array(part, depth + 1) for part in value[:8]) if depth < MAX_DEPTH else ()
        return next(filter(lambda part: part is not None, inner), None)
    return value if shape_of(value) else None


def shape_of(value):
    """The shape as a tuple, with None for what is not known; None for what has no shape."""
    shape = getattr(value, "shape", None)
    try:
        return None if shape is None else tuple(shape)
    except (TypeError, ValueError):  # A tensor of unknown rank has a shape that cannot be listed.
        return None


def dtype_of(value):
    """The name of the element type, for example `float32`."""
    dtype = getattr(value, "dtype", None)
    # MXNet's are NumPy's classes, which have another name than an element type.
    name = getattr(dtype, "__name__", dtype) if isinstance(dtype, type) else getattr(dtype, "name", dtype)
    return str(name).replace("torch.", "")
